import { allowedVariableNames, isRoleName, isVariableName, type Json } from "@rangewright/domain"
import { stringify } from "yaml"

type Fields = Readonly<Record<string, Json>>

const fieldsOf = (value: Json | undefined): Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {}

/** Why a role's input can make no play; undefined when it can. */
export const roleProblem = (role: string | undefined, input: Json): string | undefined => {
  if (role === undefined || !isRoleName(role)) return `${JSON.stringify(role ?? "")} is no name of a role`
  const wrong = Object.keys(fieldsOf(fieldsOf(input)["vars"])).find((name) => !isVariableName(name))
  return wrong === undefined
    ? undefined
    : `its variable ${JSON.stringify(wrong)} has no name that Ansible takes: ${allowedVariableNames}`
}

/** Those of the stage that are the service's own, beside the ones that roles know. */
const own = new Set(["role", "vars", "range_id", "range_second_octet"])

/**
 * The play of one role on one machine (contract B 9.4). The range's facts and the role's variables are set as facts, which win over what the
 * role itself sets and lose to extra variables; texts in them may be templates, as the author of a configuration expects. They are
 * variables of the play too, so that one may refer to another. The input has no `roleProblem`. `sameMachine` is the command that fails in
 * any other machine; a role that connects by means of its own speaks to what it means to speak to.
 */
export const rolePlay = (host: string, role: string, input: Json, sameMachine: string): string => {
  const fields = fieldsOf(input)
  const known = Object.entries(fields).filter(([key]) => !own.has(key))
  const facts = Object.fromEntries([...known, ...Object.entries(fieldsOf(fields["vars"]))])
  const setFacts = {
    name: "Set the variables of the role",
    "ansible.builtin.set_fact": facts,
  }
  const isSame = {
    name: "Make sure that this is the machine",
    "ansible.builtin.raw": "{{ same_machine }}",
    vars: { same_machine: sameMachine },
    changed_when: false,
    when: "ansible_connection | default('ssh') in ['ssh', 'smart', 'paramiko', 'winrm', 'psrp']",
  }
  return stringify(
    [
      {
        name: `Run role ${role} on ${host}`,
        hosts: host,
        vars: facts,
        pre_tasks: [isSame, ...(Object.keys(facts).length === 0 ? [] : [setFacts])],
        roles: [{ role }],
      },
    ],
    // 1.1 is what Ansible reads: it makes the printer quote `yes`, `on` and their like
    { version: "1.1", lineWidth: 0, aliasDuplicateObjects: false },
  )
}
