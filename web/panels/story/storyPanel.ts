/** Defines the properties of the story and time panels. */

import type { Page } from '../../model/page.ts';
import type { Player } from '../../model/rail/timeNavigation.ts';
import type { StoryState } from '../../model/story/storyState.ts';
import type { StoryView } from '../../model/story/storyView.ts';

/** The page together with the state of the story panel. */
export interface StoryPanel {
  readonly page: Page;
  readonly storyState: StoryState;
  readonly view: StoryView;
  readonly player: Player;
}
