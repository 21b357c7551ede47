/** What the live table says of its keys. */
export const HELP: readonly string[] = [
  '↑ ↓  k j            scroll by a line',
  'PgUp PgDn  b Space  scroll by a page',
  'Home End  g G       to the first line, to the last',
  's                   sort: worst first (the default), by name, by age (the youngest first), by restarts',
  'R                   the other way round',
  '/                   filter: pods with this in a name, a status or a reason; Enter keeps it, Esc clears it',
  'd                   detail: as much as fits, everything, only what is in trouble, only pods',
  'l                   what was told since the start',
  '? h                 this help',
  'Esc                 back to the table; there: without the filter',
  'Ctrl-C              ends the node: its pods end gracefully, then its containerd',
  'Ctrl-C again        two seconds or more later: ends at once and leaves the pods running',
  'Ctrl-Z              suspends the agent; its pods go on, and "fg" goes on with it',
  '',
  'In another terminal: "statelet explain pod/NAME" tells why a pod is in the state it is in.',
];
