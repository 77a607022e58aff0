// Remembers connections from one listing of the kernel's table to the next, in columns of numbers: about 25 bytes each.

export type FlowTable = {
  /** The row of an entry, claimed if it is new; `none` if there is no room for another one. */
  readonly rowOf: (id: number, check: number) => number;
  readonly seen: (row: number) => Seen;
  readonly setSeen: (row: number, seen: Seen) => void;
  readonly bytesIn: (row: number) => number;
  readonly bytesOut: (row: number) => number;
  readonly setBytes: (row: number, bytesIn: number, bytesOut: number) => void;
  readonly size: () => number;
};

/** In which listing an entry was seen last. */
export const seenIn = { none: 0, first: 1, second: 2 } as const;
type Seen = (typeof seenIn)[keyof typeof seenIn];

export const noRow = -1;
/** Beyond it, connections are counted as open, without a rate: 50 MB while a question is answered. */
export const maxFlows = 1 << 20;
const firstSlots = 1024;

export function createFlowTable(limit = maxFlows): FlowTable {
  let columns = makeColumns(firstSlots);
  let size = 0;

  const grow = (): void => {
    const before = columns;
    columns = makeColumns(before.ids.length * 2);
    for (let row = 0; row < before.ids.length; row += 1) {
      if (before.used[row] === 0) continue;
      const to = findRow(columns, before.ids[row] ?? 0, before.checks[row] ?? 0);
      columns.used[to] = 1;
      columns.ids[to] = before.ids[row] ?? 0;
      columns.checks[to] = before.checks[row] ?? 0;
      columns.seen[to] = before.seen[row] ?? 0;
      columns.bytesIn[to] = before.bytesIn[row] ?? 0;
      columns.bytesOut[to] = before.bytesOut[row] ?? 0;
    }
  };

  return {
    rowOf(id, check) {
      let row = findRow(columns, id, check);
      if (columns.used[row] === 1) return row;
      if (size >= limit) return noRow;
      if (size * 2 >= columns.ids.length) {
        grow();
        row = findRow(columns, id, check);
      }
      size += 1;
      columns.used[row] = 1;
      columns.ids[row] = id;
      columns.checks[row] = check;
      return row;
    },
    seen: (row) => (columns.seen[row] ?? 0) as Seen,
    setSeen: (row, seen) => {
      columns.seen[row] = seen;
    },
    bytesIn: (row) => columns.bytesIn[row] ?? 0,
    bytesOut: (row) => columns.bytesOut[row] ?? 0,
    setBytes: (row, bytesIn, bytesOut) => {
      columns.bytesIn[row] = bytesIn;
      columns.bytesOut[row] = bytesOut;
    },
    size: () => size,
  };
}

type Columns = ReturnType<typeof makeColumns>;

function makeColumns(slots: number) {
  return {
    used: new Uint8Array(slots),
    seen: new Uint8Array(slots),
    ids: new Uint32Array(slots),
    checks: new Uint32Array(slots),
    bytesIn: new Float64Array(slots),
    bytesOut: new Float64Array(slots),
  };
}

/** The row of the entry, or the free one where it belongs. The number of rows is a power of two, at most half of them used. */
function findRow({ used, ids, checks }: Columns, id: number, check: number): number {
  const mask = ids.length - 1;
  let row = (Math.imul(id ^ (id >>> 16), 0x9e3779b1) >>> 7) & mask;
  while (used[row] === 1 && (ids[row] !== id || checks[row] !== check)) row = (row + 1) & mask;
  return row;
}
