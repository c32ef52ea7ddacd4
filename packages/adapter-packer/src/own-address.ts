import type { Cidr } from "@rangewright/domain"
import { addressNumber } from "@rangewright/domain"
import { ownAddresses } from "@rangewright/host-tools"
import { createSocket } from "node:dgram"

const isIn =
  ({ first, last }: Cidr) =>
  (address: string): boolean => {
    const number = addressNumber(address)
    return number !== undefined && first <= number && number <= last
  }

/** The source address of packets to a network; sends none. */
const routedFrom = (network: Cidr): Promise<string | undefined> =>
  new Promise((resolve) => {
    const socket = createSocket("udp4")
    const done = (address: string | undefined): void => {
      socket.close()
      resolve(address === "0.0.0.0" ? undefined : address)
    }
    socket.once("error", () => done(undefined))
    socket.connect(9, network.text.replace(/\.\d+\/\d+$/u, ".1"), () => done(socket.address().address))
  })

/** Address at which machines in a network reach this host: its own one there, or the source address towards them. */
export const addressTowards = async (network: Cidr): Promise<string | undefined> =>
  ownAddresses().find(isIn(network)) ?? (await routedFrom(network))
