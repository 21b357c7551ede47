/** Why there is no story, and a way to ask for it again. */
import type { StoryPanel } from './storyPanel.ts';
import { Trouble } from './trouble.tsx';

interface NoStoryProps extends StoryPanel {
  readonly cause: string;
}

/** In the place of the story. */
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
