/** The Why panel with tabs for the reason, the log, the events and the object. */
import { subjectOf } from '../../model/details/headline.ts';
import { WHY_TABS } from '../../model/server/reading.ts';
import type { Panel } from '../panel.ts';
import { MiniLane } from '../story/miniLane.tsx';
import { Details } from './details.tsx';
import { LogTab } from './logTab.tsx';
import { Objects } from './objects.tsx';
import './why.css';

export function Why(panel: Panel) {
  const { page, reading } = panel;
  const subject = subjectOf(page);
  const tab = reading.whyTab.value;
  return (
    <aside class="why" aria-label="Why" tabIndex={-1}>
      <div class="ph">
        <span class="seg" role="group" aria-label="About the actor">
          {WHY_TABS.map((each) => (
            <button
              key={each}
              type="button"
              aria-pressed={each === tab}
              onClick={() => {
                reading.whyTab.value = each;
              }}
            >
              {each.slice(0, 1).toUpperCase() + each.slice(1)}
            </button>
          ))}
        </span>
      </div>
      <div class="scroll">
        {subject && tab === 'why' && <MiniLane {...panel.story} />}
        {subject && tab === 'manifest' && <Objects {...panel} subject={subject} />}
        {subject && tab === 'log' && <LogTab {...panel} subject={subject} />}
        {subject && tab !== 'manifest' && tab !== 'log' && <Details {...panel} subject={subject} tab={tab} />}
      </div>
    </aside>
  );
}
