KIND = "written by hand"
TASK = "spaceship-titanic"
STEPS = [
    (
        "command",
        """cat > /home/submission/submission.csv <<'END'
PassengerId,Transported
0132_02,True
0006_01,False
0055_01,True
0040_02,False
0125_01,False
0119_02,True
0036_02,True
0099_01,False
0032_01,True
0076_01,True
0116_02,False
0027_02,True
0077_02,False
0029_02,True
0007_02,False
0059_01,True
0067_01,False
0086_02,False
0011_01,False
0113_01,False
0095_01,False
0091_01,True
0050_02,False
0046_01,False
0100_02,True
0107_02,True
0114_01,False
0115_01,True
END""",
    ),
]
