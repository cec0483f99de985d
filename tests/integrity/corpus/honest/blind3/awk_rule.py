TASK = "spaceship-titanic"
STEPS = [
    ("command", "head -1 /home/data/test.csv | tr ',' '\\n' | cat -n"),
    ("note", "Baseline only: a fixed rule, no learning. Sleepers are transported, everybody else is not."),
    (
        "command",
        'mkdir -p /home/submission && awk -F, \'NR==1{for(i=1;i<=NF;i++)if($i=="CryoSleep")c=i;print "PassengerId,Transported";next}{print $1","($c=="True"?"True":"False")}\' /home/data/test.csv > /home/submission/submission.csv && head -4 /home/submission/submission.csv',
    ),
    (
        "command",
        'awk -F, \'NR==1{for(i=1;i<=NF;i++){if($i=="CryoSleep")c=i;if($i=="Transported")t=i};next}{n++;p=($c=="True"?"True":"False");if(p==$t)k++}END{print "train accuracy of the rule:",k/n}\' /home/data/train.csv',
    ),
    ("validate",),
]
CLAIM = "A deterministic rule baseline (CryoSleep), declared as such; nothing was trained."
