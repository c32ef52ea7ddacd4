/*
 * A machine that refuses a login is unreachable to Ansible, as one that is unreachable is. To try again would refuse it again, and may lock
 * the account. These are the words of its connections and of the libraries under them.
 */

const refusals = [
  // ssh and sshpass; other things than logins are denied in other words
  /permission denied(?: \(|, please try again)/iu,
  /invalid\/incorrect (?:username\/)?password/iu,
  /too many authentication failures/iu,
  // paramiko, psrp, winrm
  /authentication fail(?:ed|ure)/iu,
  /failed to authenticate/iu,
  /credentials were rejected/iu,
  /(?:\bcode:?|\bstatus:?|\bhttp(?:\/[\d.]+)?) 401\b|\b401 (?:client error|unauthorized)/iu,
]

/** Linux lets nobody in while it starts or stops, whatever the password. */
const closed = /system is booting up|system is going down|unprivileged users are not permitted to log in yet/iu

/** Whether the message about an unreachable machine says that it answered and refused the login. */
export const isRefusedLogin = (words: string): boolean => !closed.test(words) && refusals.some((refusal) => refusal.test(words))
