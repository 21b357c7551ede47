/** A syntax error in a path or template. The message is appended to the text of the path. */
export class PathSyntaxError extends Error {}
