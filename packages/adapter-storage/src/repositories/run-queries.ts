/**
 * All unfinished runs, newest first: those with a subject that is busy. Comparing it, and sorting by a sum, keeps SQLite from reading every
 * run: it searches no index for "is not null", and would rather read all in the order of the one on `ordinal`.
 */
export const selectUnfinished = "select * from runs where busy_subject > '' order by ordinal + 0 desc"

/** How many runs ended after a time, by kind and status. */
export const countEnded = "select kind, status, count(*) as ended from runs where ended_at > ? group by kind, status"
