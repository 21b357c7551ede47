/** The panel with the story as lanes over time or as a sequence diagram. */
import { toggleStoryView } from '../../model/story/storyKeys.ts';
import { storyName } from '../../model/story/storyView.ts';
import { nameOf } from '../../model/story/storyWho.ts';
import { formatMinutes } from '../../model/story/storyWords.ts';
import { LanesInSteps } from './lanesInSteps.tsx';
import { LanesOverTime } from './lanesOverTime.tsx';
import { NoStory } from './noStory.tsx';
import type { StoryPanel } from './storyPanel.ts';
import './lanes.css';

export function Lanes(panel: StoryPanel) {
  const { page } = panel;
  const isByTime = page.location.value.story === 'time';
  return (
    <section class="lanes" aria-label={isByTime ? 'Story, over time' : 'Story, in steps'}>
      <div class="ph">
        <h2>Story</h2>
        <span class="dim sub-title">{isByTime ? timeTitle(panel) : stepsTitle(panel)}</span>
        <span class="r">
          <Scale page={page} />
        </span>
      </div>
      <LanesDiagram {...panel} />
    </section>
  );
}

function LanesDiagram(panel: StoryPanel) {
  const { page, storyState } = panel;
  const { value: trouble } = storyState.error;
  if (trouble !== undefined) return <NoStory {...panel} cause={trouble} />;
  return page.location.value.story === 'time' ? <LanesOverTime {...panel} /> : <LanesInSteps {...panel} />;
}

function Scale({ page }: Pick<StoryPanel, 'page'>) {
  const { story } = page.location.value;
  return (
    <fieldset class="seg" aria-label="Scale">
      {(['time', 'steps'] as const).map((each) => (
        <button
          key={each}
          type="button"
          aria-pressed={story === each}
          title={`${each === 'time' ? 'Over time' : 'One column a step'} (s)`}
          onClick={() => story !== each && toggleStoryView(page)}
        >
          {each === 'time' ? 'Time' : 'Steps'}
        </button>
      ))}
    </fieldset>
  );
}

function timeTitle(panel: StoryPanel): string {
  const { from, to } = panel.storyState.range.value;
  return `${storyName(panel.page)}, ${formatMinutes(from)} to ${formatMinutes(to)}`;
}

function stepsTitle(panel: StoryPanel): string {
  const visibleBurst = panel.view.visibleBurst.value;
  const { run } = visibleBurst?.burst ?? {};
  const name = nameOf(panel.view.subject.value);
  return `${storyName(panel.page)}, ${run === undefined ? name : `run ${run} of ${name}`}, one column a step`;
}
