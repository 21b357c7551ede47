/** How much a YAML document holds once each alias and merge stands for what it repeats: told before it is made. */
import { isAlias, isMap, isPair, isScalar, isSeq } from 'yaml';

export interface ExpandedSize {
  /** Fields, items and what they hold. What a map merges counts in full, for each of it is looked at. */
  readonly values: number;
  /** The length of all texts and names of fields together. */
  readonly characters: number;
  /** What is merged is a level of its own, as it is for whoever makes the value. Infinite for what holds itself. */
  readonly depth: number;
}

const EMPTY: ExpandedSize = { values: 0, characters: 0, depth: 0 };
const UNENDING: ExpandedSize = { values: 0, characters: 0, depth: Number.POSITIVE_INFINITY };

/** Looks at each node once, however often it is repeated. */
export const expandedSize = (content: unknown): ExpandedSize => new Sizes().look(content);

class Sizes {
  /** By name, what an alias stands for from here on. */
  readonly #anchors = new Map<string, { size: ExpandedSize }>();

  look(node: unknown): ExpandedSize {
    // One without its anchor is told when the value is made.
    if (isAlias(node)) return this.#anchors.get(node.source)?.size ?? { ...EMPTY, values: 1 };
    return this.#anchored(node, isMap(node) || isSeq(node) || isScalar(node) ? node.anchor : undefined);
  }

  #anchored(node: unknown, anchor: string | undefined): ExpandedSize {
    if (anchor === undefined) return this.#sizeOf(node);
    // An alias within it stands for the whole of it.
    const marked = { size: UNENDING };
    this.#anchors.set(anchor, marked);
    marked.size = this.#sizeOf(node);
    return marked.size;
  }

  #sizeOf(node: unknown): ExpandedSize {
    if (isMap(node) || isSeq(node)) return this.#within(node.items);
    const text = isScalar(node) ? node.value : undefined;
    return { values: 1, characters: typeof text === 'string' ? text.length : 0, depth: 0 };
  }

  #within(parts: readonly unknown[]): ExpandedSize {
    let [values, characters, depth] = [1, 0, 0];
    for (const part of parts) {
      const size = isPair(part) ? this.#pairSize(part.key, part.value) : this.look(part);
      values += size.values;
      characters += size.characters;
      depth = Math.max(depth, size.depth);
    }
    return { values, characters, depth: depth + 1 };
  }

  #pairSize(key: unknown, value: unknown): ExpandedSize {
    const [name, held] = [this.look(key), this.look(value)];
    return {
      // The name of a field is no value of its own.
      values: name.values - 1 + held.values,
      characters: name.characters + held.characters,
      depth: Math.max(name.depth, held.depth),
    };
  }
}
