/** Defines the properties of the panels that describe the selected actor. */
import type { ReadonlySignal } from '@preact/signals';
import type { Tree } from '../model/actors/rows.ts';
import type { Page } from '../model/page.ts';
import type { ReadingState } from '../model/server/reading.ts';
import type { StoryPanel } from './story/storyPanel.ts';

/** The page with the state of the panels that describe the selected actor. */
export interface Panel {
  readonly page: Page;
  readonly tree: Tree;
  readonly reading: ReadingState;
  /** The properties of the story and time panels. */
  readonly story: StoryPanel;
  /** Announces text to screen readers. */
  readonly announce: (text: string) => void;
  /** The text that is being announced. */
  readonly announcement: ReadonlySignal<string>;
}
