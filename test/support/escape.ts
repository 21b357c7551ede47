/** The first character of every terminal control sequence. */
export const ESC = '\x1b';
