/** The properties of the story and time panels. */
import type { Player } from '../model/moments.ts';
import type { Page } from '../model/page.ts';
import type { StoryView } from '../model/storyView.ts';
import type { Telling } from '../model/telling.ts';

/** The page with the state of its story. */
export interface StoryPanel {
  readonly page: Page;
  readonly telling: Telling;
  readonly view: StoryView;
  readonly player: Player;
}
