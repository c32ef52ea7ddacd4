/** What the kernel allows a tool and everything that it starts. */
export interface Limits {
  /** Address space of each of its processes; unlimited where absent. */
  readonly memoryBytes?: number
  /** Size of each file that one of them writes; unlimited where absent. A write beyond fails, and does not end the writer. */
  readonly fileBytes?: number
  /** Processes that its account may have, the service's own among them; unlimited where absent, and always for root. */
  readonly processes?: number
  /** Control groups that it joins, each by a file that takes process ids (`openCgroup`). It is not started where that fails. */
  readonly joins?: readonly string[]
}

/** Sets the limits and becomes the tool. Where one is already lower or unknown, the host's own stands. */
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

/** Exit codes by which the shell says that there is no such program, and that it could not join a control group. */
export const [notThere, notJoined] = [127, 125]

const inUnits = (bytes: number | undefined, unit: number): string => (bytes === undefined ? "-" : String(Math.ceil(bytes / unit)))

/** The command line of a tool that runs within limits. No shell reads any of it. */
export const limited = (
  tool: readonly string[],
  { memoryBytes, fileBytes, processes, joins = [] }: Limits,
): readonly string[] => {
  // a shell counts memory in units of 1024 bytes, and files in units of 512
  const limits = [inUnits(memoryBytes, 1024), inUnits(fileBytes, 512), inUnits(processes, 1)]
  return ["/bin/sh", "-c", script, "sh", ...limits, String(joins.length), ...joins, ...tool]
}
