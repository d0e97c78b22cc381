// Prints figures in columns, and the results of bars.

/** Prints rows below a heading, with right-aligned numbers. */
export function printTable(heading: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = heading.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)))
  const line = (cells: readonly string[]) =>
    cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join('  ')
  console.log(line(heading))
  console.log(widths.map((width) => '-'.repeat(width)).join('  '))
  for (const row of rows) console.log(line(row))
}

/** Prints whether a figure meets its bar, and sets the exit code to 1 if not. */
export function verdict(what: string, value: number, atMost: number, unit = ''): void {
  judge(value <= atMost, `${what}: ${figureOf(value)}${unit} (at most ${atMost}${unit})`)
}

export function verdictAtLeast(what: string, value: number, atLeast: number, unit = ''): void {
  judge(value >= atLeast, `${what}: ${figureOf(value)}${unit} (at least ${atLeast}${unit})`)
}

function judge(kept: boolean, text: string): void {
  if (!kept) process.exitCode = 1
  console.log(`${kept ? 'ok    ' : 'MISSED'}  ${text}`)
}

const figureOf = (value: number): string => (Number.isInteger(value) ? String(value) : value.toFixed(value < 10 ? 2 : 0))
