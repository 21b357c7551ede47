/** Help for the keys of the live table. */
export const HELP: readonly string[] = [
  '↑ ↓  k j            scroll by a line',
  'PgUp PgDn  b Space  scroll by a page',
  'Home End  g G       to the first or last line',
  's                   sort: worst first (default), by name, by age (youngest first), by restarts',
  'R                   reverse the order',
  '/                   filter pods by text in a name, status or reason; Enter applies the filter, Esc clears it',
  'd                   detail: as much as fits, everything, only problems, only pods',
  'l                   messages since the start',
  '? h                 this help',
  'Esc                 back to the table; in the table: clear the filter',
  'Ctrl-C              stop the node: its pods terminate gracefully, then its containerd stops',
  'Ctrl-C again        after two seconds or more: stop at once and leave the pods running',
  'Ctrl-Z              suspend the agent; its pods keep running, and "fg" resumes it',
  '',
  'In another terminal: "statelet explain pod/NAME" says why a pod is in its current state.',
];
