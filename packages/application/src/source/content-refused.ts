import { Failed, type Fault, InvalidInput, SourceBroken, SourceUnfetched } from "@rangewright/domain"
import { ContentFault, LibraryFault } from "@rangewright/ports"

/** Whether a fault tells of content that cannot be had or read. */
const isOfContent = (fault: Fault): boolean =>
  fault instanceof ContentFault || fault instanceof SourceBroken || fault instanceof SourceUnfetched

const textOf = ({ message, hint }: Fault) => ({ what: message, ...(hint === undefined ? {} : { hint }) })

/** Whoever gave a source whose content cannot be had or read has to fix it: invalid, whatever went wrong. */
export const asRefusal = (fault: Fault): Fault =>
  isOfContent(fault) ? new InvalidInput({ ...textOf(fault), issues: fault.issues }) : fault

/** A source that was fine before and whose content cannot be had or read now: failed. */
export const asFailure = (fault: Fault): Fault =>
  isOfContent(fault) || fault instanceof LibraryFault ? new Failed(textOf(fault)) : fault
