/** Lists the values of `get -o` for the command line and for shell completion. */

export const FORMATS = ['wide', 'json', 'yaml', 'name'] as const;

/** Formats followed by a template or by the path of a template file. */
export const FORMATS_WITH_ARGUMENT = [
  'jsonpath=',
  'jsonpath-file=',
  'custom-columns=',
  'custom-columns-file=',
] as const;
