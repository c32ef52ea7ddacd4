/**
 * What attempts from an address are counted under: an IPv4 address, or the /64 of an IPv6 address, of which a single host has all. A text
 * that is no address stands for itself.
 */
export const originOf = (address: string): string => {
  if (!address.includes(":")) return address
  const [head = "", tail] = (address.split("%")[0] ?? "").toLowerCase().split("::", 2)
  const groups = (text: string): readonly string[] => text.split(":").filter((group) => group !== "")
  const front = groups(head)
  const back = tail === undefined ? [] : groups(tail)
  const filled = [...front, ...Array.from({ length: Math.max(0, 8 - front.length - back.length) }, () => "0"), ...back]
  return `${filled
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/u, ""))
    .join(":")}::/64`
}
