import { allowedVariableNames, isRoleName, isVariableName, type Json } from "@rangewright/domain"
import { stringify } from "yaml"

type Fields = Readonly<Record<string, Json>>

const fieldsOf = (value: Json | undefined): Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {}

/** The variables of a role's input, by name. */
export const variablesOf = (input: Json | undefined): Fields => fieldsOf(fieldsOf(input)["vars"])

/** A variable in a role's input whose name Ansible does not accept; undefined when there is none. */
export const wrongVariable = (input: Json): string | undefined =>
  Object.keys(variablesOf(input)).find((name) => !isVariableName(name))

/** Why a role's input cannot become a play; undefined when it can. */
export const roleProblem = (role: string | undefined, input: Json): string | undefined => {
  if (role === undefined || !isRoleName(role)) return `${JSON.stringify(role ?? "")} is not a valid role name`
  const wrong = wrongVariable(input)
  return wrong === undefined
    ? undefined
    : `its variable ${JSON.stringify(wrong)} does not have a valid Ansible name: ${allowedVariableNames}`
}

/**
 * Extra variable with the command that fails on any other machine; nothing that a role sets takes precedence over it. A role that connects
 * by its own means talks to whatever it intends to.
 */
export const sameMachineVariable = "rangewright_same_machine"

/** Members of the input that are not set as facts: those for the service itself, and those that roles get as extra variables. */
const own = new Set(["role", "vars", "range_id", "range_second_octet"])

/** Initial facts of a machine: its known surroundings, and the variables of its roles. */
const factsOf = (input: Json): Fields => {
  const fields = fieldsOf(input)
  const known = Object.entries(fields).filter(([key]) => !own.has(key))
  return Object.fromEntries([...known, ...Object.entries(variablesOf(input))])
}

/** Sets a machine's initial facts; one value may refer to another. */
const setting = (facts: Fields) => ({ name: "Set the variables of the role", "ansible.builtin.set_fact": facts })

export interface RolePlay {
  readonly host: string
  readonly role: string
  /** Must have no `roleProblem`. */
  readonly input: Json
  /** Whether the host's initial facts have yet to be set. */
  readonly begins: boolean
  /** The same members of the input of other hosts whose initial facts have yet to be set, by name. */
  readonly others: ReadonlyMap<string, Json>
}

/**
 * The play of one role on one machine. The machines' initial facts are set as facts, which override variables of the role itself and are
 * overridden by extra variables; strings in them may be templates, as the author of a configuration expects. They are variables of the play
 * too, so that one may refer to another. Another machine's variable that cannot be evaluated yet is left to that machine's own first role.
 */
export const rolePlay = ({ host, role, input, begins, others }: RolePlay): string => {
  const facts = factsOf(input)
  const isSame = {
    name: "Make sure that this is the machine",
    "ansible.builtin.raw": `{{ ${sameMachineVariable} }}`,
    changed_when: false,
    // tells the callback that the initial facts are set
    vars: { rangewright_role_follows: true },
    when: "ansible_connection | default('ssh') in ['ssh', 'smart', 'paramiko', 'winrm', 'psrp']",
  }
  return stringify(
    [
      ...[...others]
        .map(([name, given]) => [name, factsOf(given)] as const)
        .filter(([, given]) => Object.keys(given).length > 0)
        .map(([name, given]) => ({
          name: `Set the variables of the roles on ${name}`,
          hosts: name,
          gather_facts: false,
          vars: given,
          tasks: [{ ...setting(given), ignore_errors: true }],
        })),
      {
        name: `Run role ${role} on ${host}`,
        hosts: host,
        vars: facts,
        pre_tasks: [...(begins && Object.keys(facts).length > 0 ? [setting(facts)] : []), isSame],
        roles: [{ role }],
      },
    ],
    // Ansible reads YAML 1.1: this makes the printer quote `yes`, `on` and the like
    { version: "1.1", lineWidth: 0, aliasDuplicateObjects: false },
  )
}
