import { NARROW_TABS } from '../../model/server/reading.ts';
import type { Panel } from '../panel.ts';

const NAMES = { why: 'Why', story: 'Story', chart: 'Chart', actors: 'Actors' } as const;

/** The tabs of a narrow page, which shows one panel at a time. */
export const Tabs = ({ reading }: Panel) => (
  <div class="tabs" role="tablist" aria-label="Panels">
    {NARROW_TABS.map((tab) => (
      <button
        key={tab}
        type="button"
        role="tab"
        aria-selected={reading.narrowTab.value === tab}
        onClick={() => {
          reading.narrowTab.value = tab;
        }}
      >
        {NAMES[tab]}
      </button>
    ))}
  </div>
);
