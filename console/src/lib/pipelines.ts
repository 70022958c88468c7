export interface Pipeline {
  name: string; run_id: string; state: string; started_ms: number | null; reported_ms: number | null; silent_ms: number | null
  batch_id: number | null; batch_ms: number | null; rows_per_second: number | null; input_rows: number | null; output_rows: number | null
  lag: number | null; lag_by_topic: Record<string, number>; sources: string[]; sinks: string[]; last_error: string | null; master: string
}

const SILENT_MS = 60_000

/** One that says it runs, and has not said so for long, may not run any more. */
export function tone(each: Pipeline): string {
  if (each.state === 'failed') return 'bad'
  if (each.state === 'running' || each.state === 'starting') return (each.silent_ms ?? 0) > SILENT_MS ? 'warn' : 'good'
  return ''
}
