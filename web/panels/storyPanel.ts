/** The properties of the story and time panels. */

import type { Page } from '../model/page.ts';
import type { StoryState } from '../model/storyState.ts';
import type { StoryView } from '../model/storyView.ts';
import type { Player } from '../model/timeNavigation.ts';

/** The page with the state of its story. */
export interface StoryPanel {
  readonly page: Page;
  readonly storyState: StoryState;
  readonly view: StoryView;
  readonly player: Player;
}
