/** Finds overlapping texts in a rendered page. */
import type { Page } from 'playwright-core';

/**
 * Runs in the page. A text box is one line of a text, without the parts that an ancestor clips. Each box is reduced to
 * the letters, because the font's space above and below them may overlap.
 */
const FIND_OVERLAPS = `(() => {
  const clips = (element) => {
    const { overflowX, overflowY } = getComputedStyle(element);
    return overflowX !== 'visible' || overflowY !== 'visible';
  };
  // The bounding box of an inner SVG covers its contents rather than its visible part.
  const viewportOf = (element) => {
    const matrix = element instanceof SVGSVGElement && element.parentElement instanceof SVGElement ? element.parentElement.getScreenCTM() : undefined;
    if (!matrix) return element.getBoundingClientRect();
    const [x, y, width, height] = ['x', 'y', 'width', 'height'].map((name) => element[name].baseVal.value);
    const [left, top] = [matrix.e + x * matrix.a, matrix.f + y * matrix.d];
    return { left, top, right: left + width * matrix.a, bottom: top + height * matrix.d };
  };
  const clipped = (rect, element) => {
    let { left, top, right, bottom } = rect;
    for (let each = element; each && each !== document.documentElement; each = each.parentElement) {
      if (each instanceof SVGElement ? !(each instanceof SVGSVGElement) || !clips(each) : !clips(each)) continue;
      const box = viewportOf(each);
      [left, top] = [Math.max(left, box.left), Math.max(top, box.top)];
      [right, bottom] = [Math.min(right, box.right), Math.min(bottom, box.bottom)];
    }
    [right, bottom] = [Math.min(right, innerWidth), Math.min(bottom, innerHeight)];
    const margin = (rect.bottom - rect.top) * 0.22;
    return { left: left + 0.5, right: right - 0.5, top: Math.max(top, rect.top + margin), bottom: Math.min(bottom, rect.bottom - margin) };
  };
  const isSeen = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && !element.closest('.sr');
  const root = document.querySelector('dialog[open]') ?? document.body;
  const boxes = [];
  const add = (rects, element, text) => {
    for (const rect of rects) {
      const box = clipped(rect, element);
      if (box.right - box.left > 1 && box.bottom - box.top > 1) boxes.push({ ...box, text, element });
    }
  };
  for (const element of root.querySelectorAll('svg text')) {
    const text = element.textContent.trim();
    if (text !== '' && isSeen(element)) add([element.getBoundingClientRect()], element, text);
  }
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (node.data.trim() === '' || !element || element.closest('svg, script, style') || !isSeen(element)) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    add(range.getClientRects(), element, node.data.trim());
  }
  // An opaque box hides the text beneath it.
  const covers = (element) => element.closest('.playhead, .lb.over, .notice, .about, .drawn > .why, .drawn > .lines');
  const found = [];
  for (const [index, one] of boxes.entries())
    for (const other of boxes.slice(index + 1)) {
      const isApart = one.right <= other.left || other.right <= one.left || one.bottom <= other.top || other.bottom <= one.top;
      if (isApart || covers(one.element) !== covers(other.element)) continue;
      if (one.element === other.element) continue;
      const nameOf = ({ element, text }) => (element.getAttribute('class') ?? element.localName) + ' "' + text.slice(0, 40) + '"';
      found.push(nameOf(one) + ' overlaps ' + nameOf(other));
    }
  return { count: boxes.length, found: [...new Set(found)] };
})()`;

/** Returns the number of visible text boxes and a line for each overlapping pair. */
export const textOverlaps = (page: Page): Promise<{ readonly count: number; readonly found: readonly string[] }> =>
  page.evaluate(FIND_OVERLAPS);
