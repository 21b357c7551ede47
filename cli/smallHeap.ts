import { setFlagsFromString } from 'node:v8';

/**
 * Keeps a daemon's memory small: it lives long and does little, so a young generation that a burst of pods once made
 * large, and code compiled for speed, would only stay behind. To be called before the large modules are loaded.
 */
export function keepHeapSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--optimize-for-size');
}
