"""Examples at the end of `podium COMMAND --help`. A test parses each one."""

EXAMPLES = {
    "tasks": ("podium tasks --suite quick", "podium tasks --kind image --size small", "podium tasks --text whale"),
    "show": ("podium show spaceship-titanic", "podium show vectorization --json"),
    "prepare": (
        "podium prepare spaceship-titanic --miniature",
        "podium prepare spaceship-titanic --raw downloads/titanic",
        "podium prepare mle-bench-lite --jobs 4",
    ),
    "validate": ("podium validate spaceship-titanic submission.csv",),
    "grade": (
        "podium grade spaceship-titanic submission.csv",
        "podium grade --jsonl submissions.jsonl --out graded",
    ),
    "run": (
        "podium run quick --time 60s",
        "podium run spaceship-titanic --miniature --dry-run",
        "podium run mle-bench-lite --agent aide --model openai/gpt-4o --seeds 3",
        "podium run my_code/ --goal 'Make it more accurate' --score accuracy",
    ),
    "resume": ("podium resume runs/first", "podium resume runs/first --retry --time 2h"),
    "baseline": ("podium baseline vectorization --miniature --seeds 3",),
    "cluster": (
        "podium cluster up --nodes 4",
        "podium cluster status runs/first",
        "podium cluster slurm --nodes 8 --time 24h -- run mle-bench-lite --seeds 3",
    ),
    "agents": ("podium agents", "podium agents aide", "podium agents install claude-code"),
    "env": ("podium env list", "podium env build cpu"),
    "shell": ("podium shell runs/me/spaceship-titanic/0",),
    "steps": (
        "podium steps runs/first/spaceship-titanic/0",
        "podium steps runs/first/spaceship-titanic/0 7 --diff",
        "podium steps runs/first/spaceship-titanic/0 7 --fork",
    ),
    "verify": ("podium verify runs/first", "podium verify runs/first/spaceship-titanic/0 --json"),
    "reproduce": ("podium reproduce runs/first/spaceship-titanic/0",),
    "report": ("podium report runs/first", "podium report runs/a runs/b --html report.html"),
    "compare": ("podium compare runs/a runs/b",),
    "integrity": ("podium integrity scan runs/first",),
    "integrity failures": ("podium integrity failures runs/first", "podium integrity failures runs/first --json"),
    "integrity scan": ("podium integrity scan runs/first", "podium integrity scan runs/a runs/b --json"),
    "integrity audit": (
        "podium integrity audit spaceship-titanic",
        "podium integrity audit mle-bench-lite --miniature --edition v1",
    ),
    "integrity contamination": (
        "podium integrity contamination spaceship-titanic --model openai/gpt-4o",
        "podium integrity contamination mle-bench-lite --model base --model-base-url http://localhost:8000/v1 "
        "--token-probabilities --performance runs/first",
    ),
    "integrity similarity": (
        "podium integrity similarity runs/a runs/b --html similar.html",
        "podium integrity similarity runs/a --notebooks 50",
    ),
    "key": ("podium key new", "podium key show"),
    "publish": ('podium publish runs/first --by "Ada, ada@example.org"', "podium publish runs/first --light"),
    "board": (
        "podium board init board --name tables",
        "podium board check bundle.podium --board board",
        "podium board add board bundle.podium",
        "podium board build board --out site",
        "podium board audit board --since head.json",
    ),
    "view": ("podium view", "podium view runs --port 8080"),
    "forge": (
        "podium forge tabular-regression",
        "podium forge graph --difficulty hard --seed 7",
        "podium forge --from customers.csv",
    ),
    "new-task": (
        "podium new-task churn --from customers.csv --target left",
        "podium new-task sales --from sales.parquet --target sold --time day",
        "podium new-task leaves --from pictures/",
    ),
    "import": ("podium import mle-bench/", "podium import grading_report.json --out runs/theirs"),
    "export": (
        "podium export runs/first/spaceship-titanic/0 --format messages",
        "podium export quick --format harbor --out harbor",
    ),
    "demo": ("podium demo", "podium demo --time 60s --out runs/demo"),
    "doctor": ("podium doctor", "podium doctor --json"),
    "completion": ('eval "$(podium completion bash)"', "podium completion fish | source"),
}


def epilog(command: str) -> str | None:
    """Return the examples of a command as a help epilog, or None if it has none."""
    lines = EXAMPLES.get(command)
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines) if lines else None
