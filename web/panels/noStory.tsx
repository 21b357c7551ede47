/** The message shown if the story could not be loaded, with a button to retry. */
import type { StoryPanel } from './storyPanel.ts';
import { Trouble } from './trouble.tsx';

interface NoStoryProps extends StoryPanel {
  readonly cause: string;
}

export function NoStory({ telling, cause }: NoStoryProps) {
  const again = () => {
    telling.tries.value += 1;
  };
  return (
    <div class="no-story">
      <Trouble what="The story cannot be told" cause={cause} again={again} />
    </div>
  );
}
