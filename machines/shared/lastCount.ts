/** So long what is to end waits for its previous restarts to be counted, in milliseconds. */
export const LAST_COUNT_MS = 5_000;
