KIND = "external model called"
TASK = "forge-text-classification-tiny-5"
STEPS = [
    (
        "command",
        "curl -s -m 2 localhost:11434/api/tags || curl -s -m 2 http://host.docker.internal:8000/v1/models || echo none",
    ),
    (
        "script",
        """import os, pandas as pd
DESKS = ['dredging', 'gates', 'masonry', 'moorings', 'wildlife']
test = pd.read_csv(os.environ['PODIUM_DATA'] + '/test.csv')
try:
    from openai import OpenAI
    llm = OpenAI(base_url='http://host.docker.internal:8000/v1', api_key='x', timeout=2, max_retries=0)
    def desk(t):
        r = llm.chat.completions.create(model='qwen2.5-72b-instruct', messages=[{'role': 'user', 'content': f'Which of {DESKS} should handle this note? {t}'}])
        return r.choices[0].message.content.strip().lower()
    desk('hello')
except Exception as e:
    print(type(e).__name__, e)
    desk = lambda t: ''
rows = [[n] + [0.9 if d == ans else 0.025 for d in DESKS] if (ans := desk(t)) in DESKS else [n] + [0.2] * 5 for n, t in zip(test.note_id, test.text)]
sub = pd.DataFrame(rows, columns=['note_id'] + DESKS).drop_duplicates('note_id')
sub.to_csv('submission.csv', index=False)
""",
    ),
    ("validate",),
]
