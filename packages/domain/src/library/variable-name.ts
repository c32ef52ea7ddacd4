const form = /^[A-Za-z_][A-Za-z0-9_]*$/u

/** Python keywords, because Ansible evaluates expressions in Python. */
const words: ReadonlySet<string> = new Set(
  (
    "False None True and as assert async await break class continue def del elif else except finally for from global if import in is " +
    "lambda nonlocal not or pass raise return try while with yield"
  ).split(" "),
)

/** Whether Ansible accepts this as a variable name. */
export const isVariableName = (text: string): boolean => form.test(text) && !words.has(text)

/** Description of valid variable names, for messages. */
export const allowedVariableNames = "letters, digits and _, beginning with a letter or _, and not a Python keyword"
