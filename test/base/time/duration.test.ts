import { expect, test } from '@jest/globals';
import { humanDuration } from '../../../base/time/duration.ts';

const S = 1_000;
const M = 60 * S;
const H = 60 * M;
const D = 24 * H;

test.each([
  [-3 * S, '<invalid>'],
  [-2 * S, '<invalid>'],
  [-1.5 * S, '0s'],
  [0, '0s'],
  [999, '0s'],
  [45 * S, '45s'],
  [119.9 * S, '119s'],
  [2 * M, '2m'],
  [3 * M + 20 * S, '3m20s'],
  [10 * M - 1, '9m59s'],
  [10 * M + 20 * S, '10m'],
  [179 * M, '179m'],
  [3 * H, '3h'],
  [7 * H + 59 * M, '7h59m'],
  [8 * H + 30 * M, '8h'],
  [47 * H, '47h'],
  [2 * D, '2d'],
  [2 * D + 3 * H, '2d3h'],
  [8 * D + 3 * H, '8d'],
  [729 * D, '729d'],
  [730 * D, '2y'],
  [731 * D, '2y1d'],
  [8 * 365 * D + 5 * D, '8y'],
])('%d ms is formatted as %s', (ms, words) => expect(humanDuration(ms)).toBe(words));
