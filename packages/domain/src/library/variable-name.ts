const form = /^[A-Za-z_][A-Za-z0-9_]*$/u

/** Words of Python, in which Ansible's expressions are evaluated. */
const words: ReadonlySet<string> = new Set(
  (
    "False None True and as assert async await break class continue def del elif else except finally for from global if import in is " +
    "lambda nonlocal not or pass raise return try while with yield"
  ).split(" "),
)

/** Whether Ansible takes this for the name of a variable. */
export const isVariableName = (text: string): boolean => form.test(text) && !words.has(text)

/** What names of variables are made of, for people. */
export const allowedVariableNames = "letters, digits and _, beginning with a letter or _, and not a Python keyword"
