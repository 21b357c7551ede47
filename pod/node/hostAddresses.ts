/** The node's addresses, the primary first: as they are for ever, or to be asked for each time. */
export type HostAddresses = readonly string[] | (() => readonly string[]);

/** The addresses at this moment. */
export const addressesNow = (addresses: HostAddresses): readonly string[] =>
  typeof addresses === 'function' ? addresses() : addresses;
