/** Limits for a tool and everything it starts. */
export interface Limits {
  /** Address space of each process; unlimited when absent. */
  readonly memoryBytes?: number
  /** Size of each file a process writes; unlimited when absent. A write beyond it fails but does not end the writer. */
  readonly fileBytes?: number
  /** Processes of the account, including the service's own; unlimited when absent, and always for root. */
  readonly processes?: number
  /** Control groups to join, each given by a file that takes process ids (`openCgroup`). If joining fails, the tool is not started. */
  readonly joins?: readonly string[]
}

/** Sets the limits and execs the tool. A limit that is already lower or unknown stays as the host has it. */
const script = `trap "" XFSZ 2>/dev/null
ulimit -c 0 2>/dev/null
[ "$1" = - ] || ulimit -v "$1" 2>/dev/null
[ "$2" = - ] || ulimit -f "$2" 2>/dev/null
# the shells of the field have either letter
[ "$3" = - ] || ulimit -u "$3" 2>/dev/null || ulimit -p "$3" 2>/dev/null
joins=$4
shift 4
while [ "$joins" -gt 0 ]; do
  echo "$$" >"$1" || exit 125
  joins=$((joins - 1))
  shift
done
command -v -- "$1" >/dev/null 2>&1 || exit 127
exec "$@"`

/** Exit codes by which the shell reports that the program does not exist, and that it could not join a control group. */
export const [notThere, notJoined] = [127, 125]

const inUnits = (bytes: number | undefined, unit: number): string => (bytes === undefined ? "-" : String(Math.ceil(bytes / unit)))

/** The command line that runs a tool within limits. No argument is interpreted by a shell. */
export const limited = (
  tool: readonly string[],
  { memoryBytes, fileBytes, processes, joins = [] }: Limits,
): readonly string[] => {
  // a shell counts memory in units of 1024 bytes, and file sizes in units of 512
  const limits = [inUnits(memoryBytes, 1024), inUnits(fileBytes, 512), inUnits(processes, 1)]
  return ["/bin/sh", "-c", script, "sh", ...limits, String(joins.length), ...joins, ...tool]
}
