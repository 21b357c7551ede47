/** Help for the keys of `top`. */
export const TOP_HELP: readonly string[] = [
  '↑ ↓  k j            move by a row; PgUp PgDn, b Space: by a page; Home End, g G: to the first or last',
  '← →  h l            collapse, expand; on a collapsed row ← selects the parent, on an expanded row → the first child',
  'o c                 expand the visible actors, collapse all',
  'Enter               show the explanation, log and story of the actor; again, or Esc: hide them',
  '[ ]                 scroll the story',
  '/                   filter: terms that must all match, such as state:backingOff ns:shop kind:container',
  '                    is:retrying waits>30s changed<1m, or any text; Enter applies the filter, Esc clears it',
  's                   order of the pods: worst first (default), by name, by age, by the latest change',
  'R                   reverse the order',
  '? Esc               this help, back from it',
  'q Ctrl-C            quit; the agent keeps running',
  '',
  '● steady  ○ working  ◷ waiting  ↻ retrying  ✓ done  ✗ failed  ◆ broken',
  'The order of the pods does not change until two seconds after the last key.',
  'A collapsed row shows the worst state of its descendants. The actors are polled once a second, so a story lacks',
  'the states in between; "statelet replay" shows all of them.',
];
