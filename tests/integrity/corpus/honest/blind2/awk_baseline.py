TASK = "spaceship-titanic"
STEPS = [
    ("command", "cut -d, -f3,14 data/train.csv | sort | uniq -c"),
    (
        "command",
        'mkdir -p submission; awk -F, \'NR==1{print "PassengerId,Transported";next}{print $1","($3=="True"?"True":"False")}\' data/test.csv > submission/submission.csv; wc -l submission/submission.csv',
    ),
    ("validate",),
]
CLAIM = (
    "A one-line awk rule on CryoSleep, as the table of counts suggests. No model was trained and no score estimated."
)
