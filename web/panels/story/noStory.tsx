/** The message shown if the story could not be loaded, with a button to retry. */

import { ErrorMessage } from '../errorMessage.tsx';
import type { StoryPanel } from './storyPanel.ts';

interface NoStoryProps extends StoryPanel {
  readonly cause: string;
}

export function NoStory({ storyState, cause }: NoStoryProps) {
  const retry = () => {
    storyState.retries.value += 1;
  };
  return (
    <div class="no-story">
      <ErrorMessage message="The story cannot be loaded" cause={cause} onRetry={retry} />
    </div>
  );
}
