/** What the reading panels are given. */
import type { ReadonlySignal } from '@preact/signals';
import type { Page } from '../model/page.ts';
import type { Reading } from '../model/reading.ts';
import type { Tree } from '../model/rows.ts';
import type { StoryPanel } from './storyPanel.ts';

/** The page with what only its reading panels know. */
export interface Panel {
  readonly page: Page;
  readonly tree: Tree;
  readonly reading: Reading;
  /** What the panels of story and time are given. */
  readonly story: StoryPanel;
  /** Says a text aloud, to those who hear the page. */
  readonly say: (text: string) => void;
  /** What is said aloud. */
  readonly said: ReadonlySignal<string>;
}
