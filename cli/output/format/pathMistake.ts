/** What is wrong with a path or a template, in words that follow its text. */
export class PathMistake extends Error {}
