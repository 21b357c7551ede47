/** The words of `get -o`, for the command line and its completion. */

/** Those without an argument. */
export const FORMATS = ['wide', 'json', 'yaml', 'name'] as const;

/** Those that take a template or the file of one. */
export const FORMATS_WITH = ['jsonpath=', 'jsonpath-file=', 'custom-columns=', 'custom-columns-file='] as const;
