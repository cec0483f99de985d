"""Every task: Kaggle competitions, research tasks, real tables, generated competitions, and tasks of your own."""
