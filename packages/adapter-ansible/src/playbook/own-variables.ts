/**
 * Ansible's own variables decide how it connects to machines, and which programs it starts for that on the service's host. The only such
 * name that is none of them is a key of machines.
 */
export const isAnsiblesOwn = (name: string): boolean => /^_*ansible_/u.test(name) && name !== "ansible_groups"

const names = [
  "connection",
  "facts",
  "host",
  "port",
  "(?:shell_)?executable",
  "private_key_file",
  "network_os",
  "remote_tmp",
  String.raw`\w*_interpreter(?:_\w+)?`,
  String.raw`(?:ssh|sftp|scp|paramiko|winrm|psrp|shell)_\w+`,
].join("|")
const deciding = new RegExp(`^_*ansible_(?:${names})$`, "u")

/**
 * Those among them that decide where work in a machine is done, and by which programs of the service's host and the machine. Logins and
 * `become` are not among them.
 */
export const decidesWhere = (name: string): boolean => deciding.test(name)
