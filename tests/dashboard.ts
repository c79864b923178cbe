/* The dashboard against the types of Grafana's own package @grafana/schema, which know every field
 * and its values: tsc finds what is missing, misspelt or of another kind. viewers.sh puts the JSON in
 * the place of BOARD. */
import type { Dashboard, Panel } from '@grafana/schema/dist/esm/raw/dashboard/x/dashboard_types.gen';
import type { PrometheusDataQuery } from
    '@grafana/schema/dist/esm/raw/composable/prometheus/dataquery/x/PrometheusDataQuery_types.gen';
import type * as Stat from
    '@grafana/schema/dist/esm/raw/composable/stat/panelcfg/x/StatPanelCfg_types.gen';
import type * as Lines from
    '@grafana/schema/dist/esm/raw/composable/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen';

/* An enum of texts takes the texts, as JSON has them. */
type Plain<T> = T extends string ? `${T}` : T extends number | boolean | null | undefined ? T
    : T extends (infer U)[] ? Plain<U>[] : { [K in keyof T]: Plain<T[K]> };
type PartOf<T> = { [K in keyof T]?: T[K] extends object | undefined ? PartOf<T[K]> : T[K] };

type Defaults<Custom> = Omit<Plain<NonNullable<Panel['fieldConfig']>['defaults']>, 'custom'> &
    { custom?: PartOf<Plain<Custom>> };
type Of<Kind extends string, Options, Custom> =
    Omit<Plain<Panel>, 'type' | 'options' | 'fieldConfig' | 'targets'> & {
        type: Kind;
        options: PartOf<Plain<Options>>;
        fieldConfig: { defaults: Defaults<Custom>; overrides: [] };
        targets: Plain<PrometheusDataQuery>[];
    };
type Row = { id: number; type: 'row'; title: string; collapsed: boolean; panels: [];
    gridPos: Plain<Panel['gridPos']> };

export const board: Omit<Plain<Dashboard>, 'panels'> & {
    panels: (Row | Of<'stat', Stat.Options, object> |
        Of<'timeseries', Lines.Options, Lines.FieldConfig>)[];
} = BOARD;
