/** What `top` says of its keys. */
export const TOP_HELP: readonly string[] = [
  '↑ ↓  k j            move by a row; PgUp PgDn, b Space: by a page; Home End, g G: to the first or last',
  '← →  h l            close, open; in a closed row ← goes to the one above it, in an open one → to the first below it',
  'o c                 open the actors that are shown, close all',
  'Enter               show the actor: why it is so, the end of its log, and its story; again, or Esc: hide it',
  '[ ]                 back and forth in its story',
  '/                   filter: words that all have to hold, such as state:backingOff ns:shop kind:container',
  '                    is:retrying waits>30s changed<1m, or any text; Enter keeps the filter, Esc clears it',
  's                   order of the pods: worst first (default), by name, by age, by the latest change',
  'R                   reverse the order',
  '? Esc               this help, back from it',
  'q Ctrl-C            leave; the agent goes on',
  '',
  '● steady  ○ working  ◷ waiting  ↻ retrying  ✓ done  ✗ failed  ◆ broken',
  'While keys are pressed, and for two seconds after, the pods keep their places.',
  'A closed row tells of the worst actor below it. The actors are looked at once a second: what an actor passed',
  'between two looks is in no story here; "statelet replay" has all of it.',
];
