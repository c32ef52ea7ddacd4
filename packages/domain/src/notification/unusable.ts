/** A URL lacks what its service needs; the message is the form that it should have. */
export class Unusable extends Error {}
