import { Failed, type Fault, InvalidInput, SourceBroken, SourceUnfetched } from "@rangewright/domain"
import { ContentFault, LibraryFault } from "@rangewright/ports"

/** Whether a fault is about content that cannot be fetched or read. */
const isOfContent = (fault: Fault): boolean =>
  fault instanceof ContentFault || fault instanceof SourceBroken || fault instanceof SourceUnfetched

const textOf = ({ message, hint }: Fault) => ({ what: message, ...(hint === undefined ? {} : { hint }) })

/** Content that cannot be fetched or read is for the creator of the source to fix: invalid, whatever went wrong. */
export const asRefusal = (fault: Fault): Fault =>
  isOfContent(fault) ? new InvalidInput({ ...textOf(fault), issues: fault.issues }) : fault

/** For an existing source whose content cannot be fetched or read now: failed. */
export const asFailure = (fault: Fault): Fault =>
  isOfContent(fault) || fault instanceof LibraryFault ? new Failed(textOf(fault)) : fault
