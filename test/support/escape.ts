/** How each control sequence of a terminal begins. */
export const ESC = '\x1b';
