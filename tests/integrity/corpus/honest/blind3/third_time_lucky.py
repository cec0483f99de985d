TASK = "spaceship-titanic"
STEPS = [
    (
        "script",
        """import os, pandas as pd
d=os.environ['PODIUM_DATA']
t=pd.read_csv(d+'/train.csv')
print(t['Survived'].mean())
""",
    ),
    (
        "script",
        """import os, pandas as pd
from sklearn.svm import SVC
d=os.environ['PODIUM_DATA']
t=pd.read_csv(d+'/train.csv'); e=pd.read_csv(d+'/test.csv')
c=['Age','Spa','VRDeck']
SVC().fit(t[c],t['Transported'])
""",
    ),
    ("note", "ValueError: NaN. Impute."),
    (
        "script",
        """import os, pandas as pd
from sklearn.svm import SVC
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.impute import SimpleImputer
from sklearn.model_selection import cross_val_score
d=os.environ['PODIUM_DATA']
t=pd.read_csv(d+'/train.csv'); e=pd.read_csv(d+'/test.csv')
c=['Age','Spa','VRDeck']
m=make_pipeline(SimpleImputer(),StandardScaler(),SVC())
y=t['Transported'].astype(int)
print('podium-metric:',cross_val_score(m,t[c],y,cv=3).mean())
m.fit(t[c],y)
e['Transported']=m.predict(e[c])==1
e[['PassengerId','Transported']].to_csv('submission.csv',index=False)
""",
    ),
    ("validate",),
]
