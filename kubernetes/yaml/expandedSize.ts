/** Measures the size of a YAML document with all aliases and merges expanded, before the document is decoded. */
import type { AliasNode, YamlNode } from './parser.ts';
import { YamlError } from './scanner.ts';

interface ExpandedSize {
  /** Number of fields and items at all levels. All fields of a merged mapping are counted. */
  readonly values: number;
  /** Total length of all strings and field names. */
  readonly characters: number;
  /** Nesting depth of lists and mappings. A merge counts as a level, as in the decoder. */
  readonly depth: number;
}

/**
 * Calculates the size of a node with its aliases expanded. Visits each node only once, even if aliases repeat it.
 * Throws if a node contains itself.
 */
export const expandedSize = (node: YamlNode): ExpandedSize => new SizeCalculator().sizeOf(node);

class SizeCalculator {
  /** Sizes of the visited nodes, to which later aliases may refer. Undefined while a node is being measured. */
  readonly #sizes = new Map<AliasNode['target'], ExpandedSize | undefined>();

  sizeOf(node: YamlNode): ExpandedSize {
    const target = node.type === 'alias' ? node.target : node;
    const cached = this.#sizes.get(target);
    if (cached !== undefined) return cached;
    if (node.type === 'alias' && this.#sizes.has(target)) {
      throw new YamlError(`anchor ${node.name} contains itself`, node.start);
    }
    this.#sizes.set(target, undefined);
    const size = this.#measure(target);
    this.#sizes.set(target, size);
    return size;
  }

  #measure(node: AliasNode['target']): ExpandedSize {
    if (node.type === 'scalar') return { values: 1, characters: node.value.length, depth: 0 };
    let [values, characters, depth] = [1, 0, 0];
    for (const { node: child, isValue } of childrenOf(node)) {
      const size = this.sizeOf(child);
      values += isValue ? size.values : size.values - 1;
      characters += size.characters;
      depth = Math.max(depth, size.depth);
    }
    return { values, characters, depth: depth + 1 };
  }
}

interface SizedChild {
  readonly node: YamlNode;
  /**
   * Whether the node is a value rather than a field name. Only values are counted, so that a field is not counted
   * twice.
   */
  readonly isValue: boolean;
}

function childrenOf(node: Exclude<AliasNode['target'], { readonly type: 'scalar' }>): SizedChild[] {
  if (node.type === 'sequence') return node.items.map((item) => ({ node: item, isValue: true }));
  return node.entries.flatMap(([key, value]) => [
    { node: key, isValue: false },
    { node: value, isValue: true },
  ]);
}
