/* Forward and backward pass of the decoder of model.py on a CPU, one network after the other.

   A network's activations stay in the cache and no other network is touched, so its bits depend on itself alone.
   Matrices are row-major; `ld` is the distance of two rows. B batch, T tokens, D width, H heads, V vocabulary.
   Compiled once for float and once (-DDOUBLE) for double. */

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace {

#ifdef DOUBLE
typedef double real;
typedef int64_t word;
#else
typedef float real;
typedef int32_t word;
#endif
constexpr int BYTES = 32, LANES = BYTES / sizeof(real);
typedef real vec __attribute__((vector_size(BYTES)));
typedef word ivec __attribute__((vector_size(BYTES)));
typedef real vec2 __attribute__((vector_size(2 * BYTES))); /* for long chains of operations: two at a time */
typedef word ivec2 __attribute__((vector_size(2 * BYTES)));
template <class V> struct bits;
template <> struct bits<vec> { typedef ivec type; };
template <> struct bits<vec2> { typedef ivec2 type; };
constexpr real EPS = 1e-6, SAFE = 60;
#define INLINE inline __attribute__((always_inline))

struct Shape {
    int64_t depth, width, heads, context, vocabulary, batch, tokens, models, size;
};

/* ---- elementary functions of vectors ---- */

template <class V = vec> INLINE V load(const real *p) {
    V v;
    std::memcpy(&v, p, sizeof v);
    return v;
}
template <class V> INLINE void store(real *p, V v) { std::memcpy(p, &v, sizeof v); }
template <class V = vec> INLINE V all(real x) { return x - (V){0}; }
INLINE vec larger(vec a, vec b) { return a > b ? a : b; }
#ifdef DOUBLE
const ivec LANE = {0, 1, 2, 3};
#else
const ivec LANE = {0, 1, 2, 3, 4, 5, 6, 7};
#endif
INLINE real total(vec v) {
    for (int half = LANES / 2; half; half /= 2) v += __builtin_shuffle(v, LANE ^ half);
    return v[0];
}
INLINE real largest(vec v) {
    for (int half = LANES / 2; half; half /= 2) v = larger(v, __builtin_shuffle(v, LANE ^ half));
    return v[0];
}
/* A sum in an order that no processor changes: by vectors of LANES, then the rest one by one. */
template <class Whole, class One> INLINE real add_up(int64_t count, Whole whole, One one) {
    vec sum = all(0);
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES) sum += whole(i);
    real result = total(sum);
    for (; i < count; i++) result += one(i);
    return result;
}
INLINE real dot(const real *a, const real *b, int64_t count) {
    return add_up(count, [&](int64_t i) { return load(a + i) * load(b + i); }, [&](int64_t i) { return a[i] * b[i]; });
}
/* Sum of (x - by * y)^2. */
INLINE real distance(const real *x, const real *y, real by, int64_t count) {
    return add_up(count, [&](int64_t i) { vec d = load(x + i) - by * load(y + i); return d * d; }, [&](int64_t i) { real d = x[i] - by * y[i]; return d * d; });
}

#ifdef DOUBLE
constexpr real MAGIC = 6755399441055744.0, LOWEST = -708, LN2_HIGH = 6.93147180369123816490e-01, LN2_LOW = 1.90821492927058770002e-10;
constexpr int MANTISSA = 52;
constexpr real EXP[] = {1. / 6227020800, 1. / 479001600, 1. / 39916800, 1. / 3628800, 1. / 362880, 1. / 40320, 1. / 5040, 1. / 720, 1. / 120, 1. / 24, 1. / 6, .5, 1, 1}; /* Taylor */
constexpr real ERFC[] = {0, -3.940911986193138421e-10, 1.189207085235848979e-10, 3.983733249483940066e-9, -2.88632336933798104e-9, -2.163785682042776971e-8, 3.05117696063955821e-8, 8.69282485075719602e-8, -2.250882084063652654e-7, -2.975581042865155213e-7, 1.439283326369480752e-6, 1.022808636416517533e-6, -9.113238063182701245e-6, -5.722236774300042851e-6, 0.00006142956187391215404, 0.00007200192095718680169, -0.0004223453691890112151, -0.001223430048100370638, 0.001503738955765579914, 0.01821078181487470301, 0.06346776885812680438, 0.1446605938390808486, 0.2482909025805302986, 0.3382849805793960578, 0.1871063767114706838};
#else
constexpr real MAGIC = 12582912, LOWEST = -87, LN2_HIGH = 0.693359375, LN2_LOW = -2.12194440e-4;
constexpr int MANTISSA = 23;
constexpr real EXP[] = {1.3814563863e-3f, 8.3687314764e-3f, 4.1668388993e-2f, 1.6666521132e-1f, .5f, 1, 1}; /* minimax: 3e-9 */
constexpr real ERFC[] = {0.06402524560690f, 0.12610854208469f, 0.10022833943367f, -0.04893300682306f, -0.02485755085946f, -0.07535214722157f, 0.08765198290348f, -0.11925130337477f, 0.16925941407681f, -0.21976001560688f, 0.26650449633598f};
constexpr real REACH = 3.8f;
#endif
template <class T, int N> constexpr int count(T (&)[N]) { return N; }

/* e^x for x <= 0 and a little above: 2^n e^r with |r| <= ln 2 / 2. Adding MAGIC leaves n in the lowest bits, from where it is shifted
   into the exponent of e^r. */
template <class V> INLINE V exponential(V x) {
    typedef typename bits<V>::type I;
    x = x < LOWEST ? all<V>(LOWEST) : x;
    V shifted = x * (real)1.44269504088896340736 + MAGIC, n = shifted - MAGIC;
    V r = (x - n * LN2_HIGH) - n * LN2_LOW, p = all<V>(EXP[0]);
    for (int i = 1; i < count(EXP); i++) p = p * r + EXP[i];
    return (V)((I)p + ((I)shifted << MANTISSA));
}

/* Phi(x) and phi(x) of the normal distribution: erfc(z) e^(z^2), z = |x| / sqrt 2, as a polynomial in a number from -1 to 1. In float
   it is one in z up to REACH, where e^(-z^2) takes over, minimax for the product (7e-8); double needs the argument 2 / (1 + 0.35 z) - 1. */
template <class V> INLINE void normal(V x, V *cumulative, V *density) {
    typedef typename bits<V>::type I;
    const I sign = (I)all<V>(-0.0);
    V z = (V)((I)x & ~sign) * (real)0.70710678118654752440, p = all<V>(ERFC[0]), e = exponential((real)-0.5 * x * x);
#ifdef DOUBLE
    V u = 2 / (1 + (real)0.35 * z) - 1;
#else
    V u = (z > REACH ? all<V>(REACH) : z) * (2 / REACH) - 1;
#endif
    V square = u * u, odd = all<V>(ERFC[1]);
    for (int i = 2; i < count(ERFC); i += 2) p = p * square + ERFC[i];
    for (int i = 3; i < count(ERFC); i += 2) odd = odd * square + ERFC[i];
    p = odd * u + p;
    *cumulative = (real)0.5 + (V)((I)((real)0.5 - (real)0.5 * p * e) | ((I)x & sign));
    *density = e * (real)0.39894228040143267794;
}

/* ---- matrix products: C (+)= A B, in tiles of rows by one or two vectors ---- */

#if defined(__AVX512VL__) || defined(__aarch64__)
#define ROWS 8
#else
#define ROWS 6
#endif
enum Causal { WHOLE, CAUSAL_INNER, CAUSAL_OUTPUT, CAUSAL_TRANSPOSED };

INLINE int64_t up(int64_t n) { return (n + LANES - 1) / LANES * LANES; }
INLINE int panel(int64_t left) { return left > LANES ? 2 * LANES : LANES; }

/* LANES rows of LANES numbers, transposed in registers: halves change places, then quarters, and so on. */
INLINE void transpose(const real *from, int64_t ldf, real *to, int64_t ldt) {
    vec row[LANES];
    for (int i = 0; i < LANES; i++) row[i] = load(from + i * ldf);
    for (int half = LANES / 2; half; half /= 2)
        for (int i = 0; i < LANES; i++)
            if (!(i & half)) {
                vec low = row[i], high = row[i | half];
                row[i] = __builtin_shuffle(low, high, (LANE & half) == 0 ? LANE : LANE + (LANES - half));
                row[i | half] = __builtin_shuffle(low, high, (LANE & half) == 0 ? LANE + half : LANE + LANES);
            }
    for (int i = 0; i < LANES; i++) store(to + i * ldt, row[i]);
}

/* B (K, N), element (k, n) at b[k * rows + n * columns], into panels; columns beyond N are zero. */
void pack(real *to, const real *b, int64_t K, int64_t N, int64_t rows, int64_t columns) {
    for (int64_t j = 0, w; j < N; j += w, to += K * w) {
        w = panel(N - j);
        const real *from = b + j * columns;
        if (columns == 1 && j + w <= N)
            for (int64_t k = 0; k < K; k++)
                for (int64_t n = 0; n < w; n += LANES) store(to + k * w + n, load(from + k * rows + n));
        else if (rows == 1 && j + w <= N && K % LANES == 0)
            for (int64_t k = 0; k < K; k += LANES)
                for (int64_t n = 0; n < w; n += LANES) transpose(from + n * columns + k, columns, to + k * w + n, w);
        else
            for (int64_t n = 0; n < w; n++)
                for (int64_t k = 0; k < K; k++) to[k * w + n] = j + n < N ? from[k * rows + n * columns] : 0;
    }
}

template <int rows, int vectors>
void tile(int64_t K, const real *a, int64_t row, int64_t column, const real *b, int64_t ldb, real *c, int64_t ld, bool add) {
    vec sum[rows][vectors];
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < vectors; j++) sum[i][j] = add ? load(c + i * ld + j * LANES) : all(0);
    for (int64_t k = 0; k < K; k++, a += column, b += ldb) {
        vec right[vectors];
        for (int j = 0; j < vectors; j++) right[j] = load(b + j * LANES);
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < vectors; j++) sum[i][j] += a[i * row] * right[j];
    }
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < vectors; j++) store(c + i * ld + j * LANES, sum[i][j]);
}

template <int rows = ROWS>
INLINE void tiles(int64_t wanted, bool wide, int64_t K, const real *a, int64_t row, int64_t column, const real *b, int64_t ldb, real *c, int64_t ld, bool add) {
    if constexpr (rows > 1)
        if (wanted < rows) return tiles<rows - 1>(wanted, wide, K, a, row, column, b, ldb, c, ld, add);
    (wide ? tile<rows, 2> : tile<rows, 1>)(K, a, row, column, b, ldb, c, ld, add);
}

/* C (M, N) with A's element (m, k) at a[m * row + k * column] and B's rows `ldb` apart, or packed where that is 0. Whole vectors are
   computed: rows of B and C are padded. Causal products leave out what the mask makes zero. */
void multiply(int64_t M, int64_t N, int64_t K, const real *a, int64_t row, int64_t column, const real *b, int64_t ldb, real *c, int64_t ld, bool add = false, Causal causal = WHOLE) {
    for (int64_t j = 0, w; j < N; b += ldb ? w : K * w, j += w) {
        w = panel(N - j);
        const int64_t step = ldb ? ldb : w;
        for (int64_t i = 0; i < M; i += ROWS) {
            int64_t rows = M - i < ROWS ? M - i : ROWS, first = 0, last = K;
            if (causal == CAUSAL_OUTPUT && j >= i + rows) continue;
            if (causal == CAUSAL_INNER && i + rows < K) last = i + rows;
            if (causal == CAUSAL_TRANSPOSED) first = i;
            tiles(rows, w > LANES, last - first, a + i * row + first * column, row, column, b + first * step, step, c + i * ld + j, ld, add);
        }
    }
}

void put(real *to, int64_t ldto, const real *from, int64_t ld, int64_t rows, int64_t columns) {
    for (int64_t i = 0; i < rows; i++) memcpy(to + i * ldto, from + i * ld, columns * sizeof(real));
}

/* ---- normalisation of rows ---- */

/* Rows of x (T, D) to mean 0 and variance 1 in `hat`, times `gain` in `out`. `stats` (2, T) holds mean and 1 / deviation:
   written, or read where they are known. */
void normalise(int64_t T, int64_t D, int64_t ld, const real *x, int64_t ldx, const real *gain, real *hat, real *out, real *stats, bool known) {
    for (int64_t t = 0; !known && t < T; t++) {
        const real *row = x + t * ldx;
        const real mean = stats[t] = add_up(D, [&](int64_t i) { return load(row + i); }, [&](int64_t i) { return row[i]; }) / D;
        stats[T + t] = add_up(D, [&](int64_t i) { vec d = load(row + i) - mean; return d * d; }, [&](int64_t i) { real d = row[i] - mean; return d * d; });
    }
#pragma omp simd
    for (int64_t t = 0; t < T; t++)
        if (!known) stats[T + t] = 1 / std::sqrt(stats[T + t] / D + EPS);
    for (int64_t t = 0; t < T; t++, x += ldx, hat += ld, out += ld) {
        real mean = stats[t], scale = stats[T + t];
#pragma omp simd
        for (int64_t i = 0; i < D; i++) {
            hat[i] = (x[i] - mean) * scale;
            out[i] = hat[i] * gain[i];
        }
    }
}

/* Gradient through `normalise`: adds to dgain, writes dx = skip * dx + its part. */
void normalise_back(int64_t T, int64_t D, int64_t ld, real *dout, const real *hat, const real *stats, const real *gain, real *dgain, real skip, real *dx) {
    for (int64_t t = 0; t < T; t++, dout += ld, hat += ld, dx += ld) {
#pragma omp simd
        for (int64_t i = 0; i < D; i++) {
            dgain[i] += dout[i] * hat[i];
            dout[i] *= gain[i];
        }
        real mean = add_up(D, [&](int64_t i) { return load(dout + i); }, [&](int64_t i) { return dout[i]; }) / D, along = dot(dout, hat, D) / D;
#pragma omp simd
        for (int64_t i = 0; i < D; i++) dx[i] = skip * dx[i] + stats[T + t] * (dout[i] - mean - hat[i] * along);
    }
}

/* ---- attention of one head of one sequence ---- */

struct Head {
    int64_t T, S, lds, ldt; /* tokens, head size, their padded rows */
    real scale;
    bool norm, learned;
    real *q, *k, *rq, *rk, *scores, *dscores, *packed, *out, *dout, *dq, *dk, *dv, *v, *share;
};

/* Rows of x (T, S), RMS-normalised where h->norm, times `factor`; padded with zeros. `inverse` is written, or read where it is known. */
void unit(const Head *h, const real *x, int64_t ld, real factor, real *to, real *inverse, bool known) {
    if (!known && h->norm) {
        for (int64_t t = 0; t < h->T; t++) inverse[t] = dot(x + t * ld, x + t * ld, h->S);
#pragma omp simd
        for (int64_t t = 0; t < h->T; t++) inverse[t] = 1 / std::sqrt(inverse[t] / h->S + EPS);
    } else if (!known)
        std::fill(inverse, inverse + h->T, 1);
    for (int64_t t = 0; t < h->T; t++, x += ld, to += h->lds)
        if (h->S % LANES == 0)
            for (int64_t i = 0; i < h->S; i += LANES) store(to + i, load(x + i) * (inverse[t] * factor));
        else
            for (int64_t i = 0; i < h->S; i++) to[i] = x[i] * (inverse[t] * factor);
}

/* Attention weights (T, T) in h->scores before they are divided by their row's sum; one over that sum in h->share. */
void attend(const Head *h, const real *q, const real *k, int64_t ld, bool known) {
    unit(h, q, ld, h->scale, h->q, h->rq, known);
    unit(h, k, ld, 1, h->k, h->rk, known);
    pack(h->packed, h->k, h->S, h->T, 1, h->lds);
    multiply(h->T, h->T, h->S, h->q, h->lds, 1, h->packed, 0, h->scores, h->ldt, false, CAUSAL_OUTPUT);
    bool bounded = h->norm && std::abs(h->scale) * h->S < SAFE; /* Cauchy-Schwarz: no score can overflow */
    for (int64_t t = 0; t < h->T; t++) {
        real *row = h->scores + t * h->ldt;
        int64_t end = up(t + 1), last = end - LANES;
        ivec seen = LANE <= (word)(t - last);
        vec top = all(0), sum = all(0);
        if (!bounded) {
            store(row + last, seen ? load(row + last) : all(row[0]));
            top = load(row);
            for (int64_t i = LANES; i < end; i += LANES) top = larger(load(row + i), top);
            top = all(largest(top));
        }
        int64_t i = 0;
        for (; i + 2 * LANES <= last; i += 2 * LANES) {
            store(row + i, exponential(load<vec2>(row + i) - top[0]));
            sum += load(row + i) + load(row + i + LANES);
        }
        for (; i < last; i += LANES) {
            vec e = exponential(load(row + i) - top);
            store(row + i, e);
            sum += e;
        }
        vec e = seen ? exponential(load(row + last) - top) : all(0);
        store(row + last, e);
        h->share[t] = 1 / total(sum + e);
        for (int64_t i = end; i < h->ldt && i < end + ROWS; i++) row[i] = 0; /* a tile of rows reads this far */
    }
}

void attention(const Head *h, const real *q, const real *k, const real *v, int64_t ld, real *out, int64_t ldo) {
    attend(h, q, k, ld, false);
    put(h->v, h->lds, v, ld, h->T, h->S);
    multiply(h->T, h->S, h->T, h->scores, h->ldt, 1, h->v, h->lds, h->out, h->lds, false, CAUSAL_INNER);
    for (int64_t t = 0; t < h->T; t++)
        for (int64_t i = 0; i < h->S; i++) out[t * ldo + i] = h->share[t] * h->out[t * h->lds + i];
}

/* Gradient of one of queries and keys through `unit`, into rows of dqkv. */
void unit_back(const Head *h, const real *d, const real *unit, const real *inverse, real factor, real *to, int64_t ld) {
    for (int64_t t = 0; t < h->T; t++, d += h->lds, unit += h->lds, to += ld) {
        real along = h->norm && factor != 0 ? dot(d, unit, h->S) / (h->S * factor) : 0;
        for (int64_t i = 0; i < h->S; i++) to[i] = inverse[t] * (factor * d[i] - along * unit[i]);
    }
}

/* Gradients of queries, keys and values into rows of dqkv, from that of the output; returns the gradient of log scale. */
real attention_back(const Head *h, const real *q, const real *k, const real *v, int64_t ld, const real *out, const real *dout, int64_t ldo, real *dq, real *dk, real *dv) {
    int64_t T = h->T, S = h->S;
    attend(h, q, k, ld, true);
    for (int64_t t = 0; t < T; t++) {
        for (int64_t i = 0; i < S; i++) h->dout[t * h->lds + i] = h->share[t] * dout[t * ldo + i];
        h->share[t] = dot(h->dout + t * h->lds, out + t * ldo, S);
    }
    multiply(T, S, T, h->scores, 1, h->ldt, h->dout, h->lds, h->dv, h->lds, false, CAUSAL_TRANSPOSED);
    pack(h->packed, v, S, T, 1, ld);
    multiply(T, T, S, h->dout, h->lds, 1, h->packed, 0, h->dscores, h->ldt, false, CAUSAL_OUTPUT);
    for (int64_t t = 0; t < T; t++) {
        real *p = h->scores + t * h->ldt, *d = h->dscores + t * h->ldt;
        int64_t end = up(t + 1);
        for (int64_t i = 0; i < end; i += LANES) store(d + i, load(p + i) * (load(d + i) - h->share[t]));
        for (int64_t i = end; i < h->ldt && i < end + ROWS; i++) d[i] = 0;
    }
    multiply(T, S, T, h->dscores, h->ldt, 1, h->k, h->lds, h->dq, h->lds, false, CAUSAL_INNER);
    multiply(T, S, T, h->dscores, 1, h->ldt, h->q, h->lds, h->dk, h->lds, false, CAUSAL_TRANSPOSED);
    real dlog = h->learned ? dot(h->dk, h->k, T * h->lds) : 0;
    unit_back(h, h->dq, h->q, h->rq, h->scale, dq, ld);
    unit_back(h, h->dk, h->k, h->rk, 1, dk, ld);
    for (int64_t t = 0; t < T; t++) memcpy(dv + t * ld, h->dv + t * h->lds, S * sizeof(real));
    return dlog;
}

/* ---- one network ---- */

enum { QKV, ATTENTION_OUT, MLP_IN, MLP_OUT, MATRICES };

struct Net {
    Shape n;
    int64_t N, D, T, ld, ld3, ld4, ldv, ldw; /* N = B T; padded rows of D, 3D, 4D, V, and of 4D such that rows do not share a set of the cache */
    int64_t at[MATRICES], gains, gain, final; /* places of block 0's matrices and gains, a block's gains, the last gain */
    Head head;
    real *hat, *in, *stats, *act, *dact, *logits, *dx, *right, *dw, *packed[MATRICES];
    void *owned[40];
    int count;
};

real *room(Net *s, int64_t count) {
    size_t bytes = (count * sizeof(real) + 127) / 64 * 64;
    void *p = aligned_alloc(64, bytes);
    if (p) memset(p, 0, bytes);
    s->owned[s->count++] = p;
    return (real *)p;
}

void leave(Net *s) {
    for (int i = 0; i < s->count; i++) free(s->owned[i]);
}

/* Places of the weights, as Shape.parameters in model.py lists them, and room to work in; 0 when memory is short. */
int prepare(Net *s, const Shape *n) {
    int64_t D = n->width, T = n->tokens, V = n->vocabulary, S = D / n->heads, start = (V + n->context) * D;
    *s = {};
    s->n = *n, s->N = n->batch * T, s->D = D, s->T = T;
    s->ld = up(D), s->ld3 = up(3 * D), s->ld4 = up(4 * D), s->ldv = up(V), s->ldw = s->ld4 + 2 * LANES;
    s->at[QKV] = start, s->at[ATTENTION_OUT] = start + 3 * D * D, s->at[MLP_IN] = start + 4 * D * D, s->at[MLP_OUT] = start + 8 * D * D;
    s->gains = start + n->depth * 12 * D * D, s->gain = 2 * D + n->heads, s->final = s->gains + n->depth * s->gain;
    Head *h = &s->head;
    h->T = T, h->S = S, h->lds = up(S), h->ldt = up(T);
    real **heads[] = {&h->q, &h->k, &h->dq, &h->dk, &h->dv, &h->out, &h->dout, &h->v};
    for (int i = 0; i < 8; i++) *heads[i] = room(s, T * h->lds);
    h->share = room(s, T);
    h->scores = room(s, (T + ROWS) * h->ldt), h->dscores = room(s, (T + ROWS) * h->ldt);
    h->packed = room(s, h->ldt * h->lds);
    s->hat = room(s, T * s->ld), s->in = room(s, T * s->ld), s->stats = room(s, 2 * T);
    s->act = room(s, T * s->ldw), s->dact = room(s, T * s->ldw), s->logits = room(s, T * s->ldv);
    s->dx = room(s, s->N * s->ld), s->right = room(s, T * s->ld), s->dw = room(s, std::max(V * s->ld, 12 * D * s->ld4));
    for (int i = 0; i < MATRICES; i++) s->packed[i] = room(s, std::max(4 * D * s->ld, std::max(V * s->ld, D * std::max(s->ldv, s->ld4))));
    for (int i = 0; i < s->count; i++)
        if (!s->owned[i]) return 0;
    return 1;
}

constexpr int64_t INPUTS[MATRICES] = {1, 1, 1, 4}, OUTPUTS[MATRICES] = {3, 1, 4, 1}; /* in widths */

void pack_block(Net *s, const real *w, int64_t block, int transposed) {
    for (int i = 0; i < MATRICES; i++) {
        int64_t K = INPUTS[i] * s->D, N = OUTPUTS[i] * s->D;
        const real *from = w + s->at[i] + block * 12 * s->D * s->D;
        if (transposed) pack(s->packed[i], from, N, K, 1, N);
        else pack(s->packed[i], from, K, N, N, 1);
    }
}

void scale_rows(real *to, const real *from, real by, int64_t count) {
    for (int64_t i = 0; i < count; i++) to[i] = by * from[i];
}

/* What a block keeps of its forward pass: qkv, the heads' output, the stream between its halves, the MLP before GELU. */
struct Kept {
    real *qkv, *mixed, *mid, *hidden, *stats; /* stats: of both normalisations, then of each head's queries and keys */
};

int64_t kept_row(const Net &s) { return s.ld3 + 2 * s.ld + s.ld4 + 4 + 2 * s.n.heads; }

Kept kept(const Net *s, real *keep, int64_t block, int64_t b) {
    int64_t qkv = s->T * s->ld3, mixed = qkv + s->T * s->ld, mid = mixed + s->T * s->ld, hidden = mid + s->T * s->ld4;
    real *p = keep + (block * s->n.batch + b) * s->T * kept_row(*s);
    return {p, p + qkv, p + mixed, p + mid, p + hidden};
}

INLINE const real *gain_of(const Net *s, const real *w, int64_t block, int which) { return w + s->gains + block * s->gain + which * s->D; }

void set_head(Net *s, const real *w, int64_t block, int64_t head, const real *treat, const Kept &k) {
    s->head.rq = k.stats + (4 + 2 * head) * s->T, s->head.rk = s->head.rq + s->T;
    s->head.norm = treat[0] != 0, s->head.learned = treat[1] != 0;
    s->head.scale = treat[2] * (s->head.learned ? gain_of(s, w, block, 2)[head] : 1);
}

void block_forward(Net *s, const real *w, int64_t block, const real *treat, real skip, const real *x, real *out, const Kept &k) {
    int64_t T = s->T, D = s->D, S = s->head.S;
    normalise(T, D, s->ld, x, D, gain_of(s, w, block, 0), s->hat, s->in, k.stats, false);
    multiply(T, 3 * D, D, s->in, s->ld, 1, s->packed[QKV], 0, k.qkv, s->ld3);
    for (int64_t h = 0; h < s->n.heads; h++) {
        set_head(s, w, block, h, treat, k);
        attention(&s->head, k.qkv + h * S, k.qkv + D + h * S, k.qkv + 2 * D + h * S, s->ld3, k.mixed + h * S, s->ld);
    }
    for (int64_t t = 0; t < T; t++) scale_rows(k.mid + t * s->ld, x + t * D, skip, D);
    multiply(T, D, D, k.mixed, s->ld, 1, s->packed[ATTENTION_OUT], 0, k.mid, s->ld, true);
    normalise(T, D, s->ld, k.mid, s->ld, gain_of(s, w, block, 1), s->hat, s->in, k.stats + 2 * T, false);
    multiply(T, 4 * D, D, s->in, s->ld, 1, s->packed[MLP_IN], 0, k.hidden, s->ld4);
    for (int64_t t = 0; t < T; t++)
        for (int64_t i = 0; i < s->ld4; i += 2 * LANES) {
            vec2 hidden = load<vec2>(k.hidden + t * s->ld4 + i), cumulative, density;
            normal(hidden, &cumulative, &density);
            store(s->act + t * s->ldw + i, hidden * cumulative);
        }
    for (int64_t t = 0; t < T; t++) scale_rows(s->right + t * s->ld, k.mid + t * s->ld, skip, D);
    multiply(T, D, 4 * D, s->act, s->ldw, 1, s->packed[MLP_OUT], 0, s->right, s->ld, true);
    put(out, D, s->right, s->ld, T, D);
}

/* Sum of the cross-entropies of one sequence; leaves softmax in s->logits and the normalised rows in s->hat and s->in. */
double sequence_loss(Net *s, const real *w, const real *x, const int64_t *tokens) {
    int64_t V = s->n.vocabulary;
    double loss = 0;
    normalise(s->T, s->D, s->ld, x, s->D, w + s->final, s->hat, s->in, s->stats, false);
    multiply(s->T, V, s->D, s->in, s->ld, 1, s->packed[0], 0, s->logits, s->ldv);
    for (int64_t t = 0; t < s->T; t++) {
        real *row = s->logits + t * s->ldv, top = row[0], chosen = row[tokens[t + 1]];
        for (int64_t i = V; i < s->ldv; i++) row[i] = -INFINITY;
#pragma omp simd reduction(max : top)
        for (int64_t i = 0; i < V; i++) top = row[i] > top ? row[i] : top;
        vec sum = all(0);
        for (int64_t i = 0; i < s->ldv; i += LANES) {
            vec e = exponential(load(row + i) - top);
            store(row + i, e);
            sum += e;
        }
        real whole = total(sum);
        loss += log(whole) + top - chosen;
        vec share = all(1 / whole);
        for (int64_t i = 0; i < s->ldv; i += LANES) store(row + i, load(row + i) * share);
    }
    return loss;
}

/* dW (K, N) += A^T dY over one sequence. */
void weight_gradient(const Net *s, const real *a, int64_t lda, int64_t K, const real *dy, int64_t ldy, int64_t N, real *dw) {
    multiply(K, N, s->T, a, 1, lda, dy, ldy, dw, up(N), true);
}

void block_backward(Net *s, const real *w, int64_t block, const real *treat, real skip, const real *x, real *keep, const real *dstream, real *grad) {
    int64_t T = s->T, D = s->D, S = s->head.S, ld = s->ld;
    real *dw[MATRICES], *gains = grad + s->gains + block * s->gain, *spare = s->dw;
    const bool whole = D % LANES == 0; /* rows of whole vectors are added to where they belong, others to padded rows first */
    for (int i = 0; i < MATRICES; i++) {
        int64_t size = INPUTS[i] * D * up(OUTPUTS[i] * D);
        dw[i] = whole ? grad + s->at[i] + block * 12 * D * D : spare;
        if (!whole) memset(spare, 0, size * sizeof(real)), spare += size;
    }
    pack_block(s, w, block, 1);
    for (int64_t b = 0; b < s->n.batch; b++, x += T * D) {
        Kept k = kept(s, keep, block, b);
        real *dx = s->dx + b * T * ld;
        if (dstream)
            for (int64_t t = 0; t < T; t++)
                for (int64_t i = 0; i < D; i++) dx[t * ld + i] += dstream[(b * T + t) * D + i];
        multiply(T, 4 * D, D, dx, ld, 1, s->packed[MLP_OUT], 0, s->dact, s->ldw);
        for (int64_t t = 0; t < T; t++)
            for (int64_t i = 0; i < s->ld4; i += 2 * LANES) {
                vec2 hidden = load<vec2>(k.hidden + t * s->ld4 + i), cumulative, density;
                real *act = s->act + t * s->ldw + i, *dact = s->dact + t * s->ldw + i;
                normal(hidden, &cumulative, &density);
                store(act, hidden * cumulative);
                store(dact, load<vec2>(dact) * (cumulative + hidden * density));
            }
        weight_gradient(s, s->act, s->ldw, 4 * D, dx, ld, D, dw[MLP_OUT]);
        normalise(T, D, ld, k.mid, ld, gain_of(s, w, block, 1), s->hat, s->in, k.stats + 2 * T, true);
        weight_gradient(s, s->in, ld, D, s->dact, s->ldw, 4 * D, dw[MLP_IN]);
        multiply(T, D, 4 * D, s->dact, s->ldw, 1, s->packed[MLP_IN], 0, s->in, ld);
        normalise_back(T, D, ld, s->in, s->hat, k.stats + 2 * T, gain_of(s, w, block, 1), gains + D, skip, dx);
        real *dmixed = s->act, *dqkv = s->dact;
        multiply(T, D, D, dx, ld, 1, s->packed[ATTENTION_OUT], 0, dmixed, ld);
        weight_gradient(s, k.mixed, ld, D, dx, ld, D, dw[ATTENTION_OUT]);
        for (int64_t h = 0; h < s->n.heads; h++) {
            set_head(s, w, block, h, treat, k);
            const real *q = k.qkv + h * S;
            real *dq = dqkv + h * S, dlog = attention_back(&s->head, q, q + D, q + 2 * D, s->ld3, k.mixed + h * S, dmixed + h * S, ld, dq, dq + D, dq + 2 * D);
            if (s->head.learned && s->head.scale != 0) gains[2 * D + h] += dlog / gain_of(s, w, block, 2)[h];
        }
        normalise(T, D, ld, x, D, gain_of(s, w, block, 0), s->hat, s->in, k.stats, true);
        weight_gradient(s, s->in, ld, D, dqkv, s->ld3, 3 * D, dw[QKV]);
        multiply(T, D, 3 * D, dqkv, s->ld3, 1, s->packed[QKV], 0, s->in, ld);
        normalise_back(T, D, ld, s->in, s->hat, k.stats, gain_of(s, w, block, 0), gains, skip, dx);
    }
    for (int i = 0; i < MATRICES && !whole; i++) {
        int64_t N = OUTPUTS[i] * D;
        put(grad + s->at[i] + block * 12 * D * D, N, dw[i], up(N), INPUTS[i] * D, N);
    }
}

/* Loss and its gradient at the last block's output into s->dx; gradients of the last gain and, through the logits, of the embedding. */
double head_backward(Net *s, const real *w, const real *x, const int64_t *tokens, real share, real *grad) {
    int64_t T = s->T, D = s->D, V = s->n.vocabulary, ld = s->ld;
    double loss = 0;
    pack(s->packed[0], w, D, V, 1, D);
    pack(s->packed[1], w, V, D, D, 1);
    memset(s->dw, 0, V * ld * sizeof(real));
    memset(s->dx, 0, s->N * ld * sizeof(real));
    for (int64_t b = 0; b < s->n.batch; b++, x += T * D, tokens += T + 1) {
        loss += sequence_loss(s, w, x, tokens);
        for (int64_t t = 0; t < T; t++) {
            real *row = s->logits + t * s->ldv;
            row[tokens[t + 1]] -= 1;
            for (int64_t i = 0; i < s->ldv; i += LANES) store(row + i, load(row + i) * share);
        }
        weight_gradient(s, s->logits, s->ldv, V, s->in, ld, D, s->dw);
        multiply(T, D, V, s->logits, s->ldv, 1, s->packed[1], 0, s->in, ld);
        normalise_back(T, D, ld, s->in, s->hat, s->stats, w + s->final, grad + s->final, 0, s->dx + b * T * ld);
    }
    put(grad, D, s->dw, ld, V, D);
    return loss;
}

}  // namespace

/* ---- what Python calls; arrays over M models, `treat` (M, 3): normalise queries and keys, learn their scale, its constant ---- */

/* Stream (L, M, N, D) after each block, or with stride 0 the last block's (M, N, D) only; keeps what `backward` needs unless keep is null. */
extern "C" int forward(const Shape *n, const real *flat, const int64_t *tokens, const real *skip, const real *treat, real *stream, int64_t stride, real *keep, int64_t kept_size, double *loss) {
    Net s;
    real *one = nullptr;
    int ok = prepare(&s, n);
    int64_t span = s.N * s.D;
    if (ok && !keep) ok = (one = room(&s, s.N * kept_row(s))) != nullptr;
    for (int64_t m = 0; ok && m < n->models; m++, flat += n->size, tokens += n->batch * (n->tokens + 1), stream += span) {
        real *x = keep ? keep + m * kept_size : stream, *own = keep ? x + span : one;
        for (int64_t b = 0; b < n->batch; b++)
            for (int64_t t = 0; t < s.T; t++) {
                const real *token = flat + tokens[b * (s.T + 1) + t] * s.D, *position = flat + (n->vocabulary + t) * s.D;
                for (int64_t i = 0; i < s.D; i++) x[(b * s.T + t) * s.D + i] = token[i] + position[i];
            }
        for (int64_t block = 0; block < n->depth; block++) {
            real *out = stream + block * stride;
            pack_block(&s, flat, block, 0);
            for (int64_t b = 0; b < n->batch; b++)
                block_forward(&s, flat, block, treat + 3 * m, skip[m], x + b * s.T * s.D, out + b * s.T * s.D, kept(&s, own, keep ? block : 0, b));
            x = out;
        }
        if (loss) {
            pack(s.packed[0], flat, s.D, n->vocabulary, 1, s.D);
            loss[m] = 0;
            for (int64_t b = 0; b < n->batch; b++) loss[m] += sequence_loss(&s, flat, x + b * s.T * s.D, tokens + b * (s.T + 1));
            loss[m] /= s.N;
        }
    }
    leave(&s);
    return ok;
}

/* Gradient (M, P) of share * mean loss, plus what dstream (L, M, N, D), if given, adds at every block. */
extern "C" int backward(const Shape *n, const real *flat, const int64_t *tokens, const real *skip, const real *treat, const real *stream, int64_t stride, real *keep, int64_t kept_size, const real *dstream, const real *share, real *grad, double *loss) {
    Net s;
    int ok = prepare(&s, n);
    int64_t span = s.N * s.D;
    for (int64_t m = 0; ok && m < n->models; m++, flat += n->size, grad += n->size, tokens += n->batch * (n->tokens + 1)) {
        memset(grad, 0, n->size * sizeof(real));
        const real *last = stream + (n->depth - 1) * stride + m * span;
        loss[m] = head_backward(&s, flat, last, tokens, share[m] / s.N, grad) / s.N;
        for (int64_t block = n->depth - 1; block >= 0; block--) {
            const real *x = block ? stream + (block - 1) * stride + m * span : keep + m * kept_size;
            const real *added = dstream ? dstream + block * stride + m * span : nullptr;
            block_backward(&s, flat, block, treat + 3 * m, skip[m], x, keep + m * kept_size + span, added, grad);
        }
        for (int64_t b = 0; b < n->batch; b++)
            for (int64_t t = 0; t < s.T; t++) {
                const real *dx = s.dx + (b * s.T + t) * s.ld;
                real *token = grad + tokens[b * (s.T + 1) + t] * s.D, *position = grad + (n->vocabulary + t) * s.D;
                for (int64_t i = 0; i < s.D; i++) token[i] += dx[i], position[i] += dx[i];
            }
    }
    leave(&s);
    return ok;
}

/* Largest score (M, L, H) that a query gives to a key it sees, from what a forward pass has kept, of the models that `asked`. */
extern "C" int top_logits(const Shape *n, const real *flat, const real *treat, const real *asked, real *keep, int64_t kept_size, real *top) {
    Net s;
    int ok = prepare(&s, n);
    Head *h = &s.head;
    for (int64_t m = 0; ok && m < n->models; m++, flat += n->size, keep += kept_size)
        for (int64_t block = 0; block < n->depth; block++)
            for (int64_t head = 0; head < n->heads; head++, top++) {
                *top = -INFINITY;
                for (int64_t b = 0; b < n->batch && asked[m] > 0; b++) {
                    Kept k = kept(&s, keep + s.N * s.D, block, b);
                    set_head(&s, flat, block, head, treat + 3 * m, k);
                    unit(h, k.qkv + head * h->S, s.ld3, h->scale, h->q, h->rq, true);
                    unit(h, k.qkv + s.D + head * h->S, s.ld3, 1, h->k, h->rk, true);
                    pack(h->packed, h->k, h->S, h->T, 1, h->lds);
                    multiply(h->T, h->T, h->S, h->q, h->lds, 1, h->packed, 0, h->scores, h->ldt, false, CAUSAL_OUTPUT);
                    for (int64_t t = 0; t < h->T; t++)
                        for (int64_t i = 0; i <= t; i++) *top = std::max(*top, h->scores[t * h->ldt + i]);
                }
            }
    leave(&s);
    return ok;
}

/* Norm (M) of each gradient (M, P). */
extern "C" int norms(int64_t models, int64_t size, const real *grad, double *norm) {
    constexpr int64_t SPAN = 4096;
    for (int64_t m = 0; m < models; m++, grad += size) {
        double square = 0;
        for (int64_t i = 0; i < size; i += SPAN) square += dot(grad + i, grad + i, std::min(SPAN, size - i));
        norm[m] = std::sqrt(square);
    }
    return 1;
}

/* One AdamW step of every model in place. `controls` (M, 5): learning rate, decay, factor on the gradient, both bias corrections.
   A model whose factor is not positive stays as it is; only the first `matrices` weights decay. */
extern "C" int adamw(int64_t models, int64_t size, int64_t matrices, real *w, const real *grad, real *first, real *second, const double *controls, double beta1, double beta2, double epsilon) {
    for (int64_t m = 0; m < models; m++, w += size, grad += size, first += size, second += size, controls += 5) {
        const real factor = controls[2], pace = controls[0] / controls[3], root = 1 / std::sqrt(controls[4]), eps = epsilon;
        const real keep1 = 1 - beta1, keep2 = 1 - beta2, b2 = beta2;
        if (!(factor > 0)) continue;
        for (int64_t from = 0, to = matrices; from < size; from = to, to = size) {
            const real decay = from ? 1 : 1 - controls[0] * controls[1];
#pragma omp simd
            for (int64_t i = from; i < to; i++) {
                real g = factor * grad[i];
                first[i] += keep1 * (g - first[i]);
                second[i] = b2 * second[i] + keep2 * g * g;
                w[i] = decay * w[i] - pace * first[i] / (std::sqrt(second[i]) * root + eps);
            }
        }
    }
    return 1;
}

/* ---- matrices among the weights and their largest singular values: adamw2.py, optimisers.py ---- */

namespace {

/* One matrix: where it begins in a network's weights, its rows, columns and distance of rows, where its vectors lie in the network's memory. */
struct Place {
    int64_t at, rows, columns, ld, right, left;
};

/* Euclidean norm, in double: no weight that is a number is too large or too small for it. Four sums, in an order that no processor changes. */
double length(const real *x, int64_t count) {
    double squares[4] = {0, 0, 0, 0};
    for (int64_t i = 0; i < count; i++) squares[i % 4] += (double)x[i] * x[i];
    return std::sqrt((squares[0] + squares[1]) + (squares[2] + squares[3]));
}

/* Largest singular value of w by power iterations from v, never above the true one but for rounding; v moves along and u = w v / |w v|.
   A step that ends in zero, or in no number, leaves both as they were. */
double power(const Place &p, const real *w, real *u, real *v, real *next, int64_t steps) {
    real *along = next + p.columns;
    double sigma = 0;
    for (int64_t step = 0; step < steps; step++) {
        for (int64_t r = 0; r < p.rows; r++) along[r] = dot(w + r * p.ld, v, p.columns);
        double size = sigma = length(along, p.rows);
        if (!(size > 0 && std::isfinite(size))) break;
        std::fill(next, next + p.columns, 0);
        for (int64_t r = 0; r < p.rows; r++) {
            const real *row = w + r * p.ld, t = along[r] = along[r] / size;
#pragma omp simd
            for (int64_t i = 0; i < p.columns; i++) next[i] += t * row[i];
        }
        sigma = length(next, p.columns);
        if (!(sigma > 0 && std::isfinite(sigma))) break;
        if (u) std::copy(along, along + p.rows, u);
        for (int64_t i = 0; i < p.columns; i++) v[i] = next[i] / sigma;
    }
    return sigma;
}

int64_t largest_sides(const Place *places, int64_t count) {
    int64_t sides = 0;
    for (int64_t k = 0; k < count; k++) sides = std::max(sides, places[k].rows + places[k].columns);
    return sides;
}

/* to = decay * to - rate * u over a matrix. */
void descend(const Place &p, real *to, const real *u, real decay, real rate) {
    for (int64_t r = 0; r < p.rows; r++) {
        real *w = to + p.at + r * p.ld;
        const real *d = u + p.at + r * p.ld;
#pragma omp simd
        for (int64_t i = 0; i < p.columns; i++) w[i] = decay * w[i] - rate * d[i];
    }
}

}  // namespace

/* One AdamW2 step of every model in place; `controls` as for `adamw`, and the cap. In a model's memory (`stride` apart) the right vectors
   of the weights come first, those of the directions `vectors` later. Weights after the first `matrices` are neither capped nor decayed. */
extern "C" int adamw2(int64_t models, int64_t size, int64_t matrices, real *w, const real *grad, real *first, real *second, const double *controls, double beta1, double beta2, double epsilon, int64_t count, const Place *places, real *memory, int64_t stride, int64_t vectors, int64_t steps) {
    Net s = {};
    real *u = room(&s, size), *next = room(&s, largest_sides(places, count));
    bool ok = u && next;
    for (int64_t m = 0; ok && m < models; m++, w += size, grad += size, first += size, second += size, controls += 6, memory += stride) {
        const real factor = controls[2], scale = 1 / controls[3], root = 1 / std::sqrt(controls[4]), eps = epsilon, rate = controls[0];
        const real keep1 = 1 - beta1, keep2 = 1 - beta2, b2 = beta2;
        if (!(factor > 0)) continue;
#pragma omp simd
        for (int64_t i = 0; i < size; i++) {
            real g = factor * grad[i];
            first[i] += keep1 * (g - first[i]);
            second[i] = b2 * second[i] + keep2 * g * g;
            u[i] = scale * first[i] / (std::sqrt(second[i]) * root + eps);
        }
        for (int64_t k = 0; k < count; k++) {
            const Place &p = places[k];
            double weight = power(p, w + p.at, nullptr, memory + p.right, next, steps), update = power(p, u + p.at, nullptr, memory + vectors + p.right, next, steps);
            double most = controls[5] * weight / update, pace = most < controls[0] ? most : controls[0];
            descend(p, w, u, 1 - pace * controls[1], pace);
        }
        for (int64_t i = matrices; i < size; i++) w[i] -= rate * u[i];
    }
    leave(&s);
    return ok;
}

/* Where `moving`: effective = gamma / sigma * raw, with sigma after one more power step of the raw weights; `numbers` is where sigma (K) and
   then gamma (K) lie in a model's memory, whose first numbers are the raw weights, from the network's weight `start` on. */
extern "C" int normalised(int64_t models, int64_t size, int64_t start, real *w, const double *moving, int64_t count, const Place *places, real *memory, int64_t stride, int64_t numbers) {
    Net s = {};
    real *next = room(&s, largest_sides(places, count));
    for (int64_t m = 0; next && m < models; m++, w += size, memory += stride)
        for (int64_t k = 0; k < count && moving[m] > 0; k++) {
            const Place &p = places[k];
            const real *raw = memory + p.at - start;
            real sigma = memory[numbers + k] = power(p, raw, memory + p.left, memory + p.right, next, 1), by = sigma > 0 ? memory[numbers + count + k] / sigma : 0;
            for (int64_t r = 0; r < p.rows; r++)
                for (int64_t i = 0; i < p.columns; i++) w[p.at + r * p.ld + i] = by * raw[r * p.ld + i];
        }
    leave(&s);
    return next != nullptr;
}

/* The gradient on effective weights becomes the one on raw weights, in place, and dgamma (M, K); memory as for `normalised`. */
extern "C" int normalised_back(int64_t models, int64_t size, int64_t start, real *grad, real *dgamma, int64_t count, const Place *places, const real *memory, int64_t stride, int64_t numbers) {
    for (int64_t m = 0; m < models; m++, grad += size, memory += stride, dgamma += count)
        for (int64_t k = 0; k < count; k++) {
            const Place &p = places[k];
            const real *raw = memory + p.at - start, sigma = memory[numbers + k], by = sigma > 0 ? memory[numbers + count + k] / sigma : 0;
            real inner = 0;
            for (int64_t r = 0; r < p.rows; r++) inner += dot(grad + p.at + r * p.ld, raw + r * p.ld, p.columns);
            dgamma[k] = inner = sigma > 0 ? inner / sigma : 0;
            for (int64_t r = 0; r < p.rows; r++) {
                real *g = grad + p.at + r * p.ld, pull = inner * memory[p.left + r];
                for (int64_t i = 0; i < p.columns; i++) g[i] = by * (g[i] - pull * memory[p.right + i]);
            }
        }
    return 1;
}

/* ---- the top direction of token matrices (E, T, D) and what it leaves: terms.py ---- */

namespace {

struct Matrix {
    int64_t T, D, ld;
    real *centred, *along;
};

/* Rows minus their mean, padded with zeros. */
void centre(const Matrix &c, const real *x) {
    real *mean = c.along + c.T;
    for (int64_t i = 0; i < c.D; i++) mean[i] = 0;
    for (int64_t t = 0; t < c.T; t++)
        for (int64_t i = 0; i < c.D; i++) mean[i] += x[t * c.D + i];
    for (int64_t i = 0; i < c.D; i++) mean[i] /= c.T;
    for (int64_t t = 0; t < c.T; t++)
        for (int64_t i = 0; i < c.D; i++) c.centred[t * c.ld + i] = x[t * c.D + i] - mean[i];
}

/* Coordinates along v, and the squared sizes along it and of the rest. */
void split(const Matrix &c, const real *v, real *sigma, real *rest) {
    *sigma = *rest = 0;
    for (int64_t t = 0; t < c.T; t++) {
        const real *row = c.centred + t * c.ld;
        real along = c.along[t] = dot(row, v, c.D);
        *sigma += along * along;
        *rest += distance(row, v, along, c.D);
    }
}

}  // namespace

/* v (E, D): the right singular vector of the largest singular value, by `steps` power iterations from v, or from the longest row
   where v is zero. q (E) = |rest| / sigma_1, and 0 where a matrix has no spread or its rest is rounding error. */
extern "C" int deflate(int64_t count, int64_t T, int64_t D, const real *x, real *v, int64_t steps, double tiny, double epsilon, real *q) {
    Net s = {};
    Matrix c = {T, D, up(D), room(&s, T * up(D)), room(&s, T + D)};
    real *gram = room(&s, D * up(D)), *next = room(&s, up(D));
    bool ok = c.centred && c.along && gram && next;
    for (int64_t e = 0; ok && e < count; e++, x += T * D, v += D) {
        centre(c, x);
        if (steps) {
            multiply(D, D, T, c.centred, 1, c.ld, c.centred, c.ld, gram, c.ld);
            if (dot(v, v, D) == 0) {
                real longest = 0;
                for (int64_t t = 0; t < T; t++) {
                    const real *row = c.centred + t * c.ld;
                    real square = dot(row, row, D);
                    if (square > longest) longest = square, std::copy(row, row + D, v);
                }
            }
        }
        for (int64_t step = 0; step <= steps; step++) {
            real size = std::sqrt(dot(v, v, D)), by = size > 0 ? 1 / size : 0;
            if (steps)
                for (int64_t i = 0; i < D; i++) v[i] *= by;
            if (step == steps) break;
            for (int64_t i = 0; i < D; i++) next[i] = dot(gram + i * c.ld, v, D);
            std::copy(next, next + D, v);
        }
        real sigma, rest;
        split(c, v, &sigma, &rest);
        q[e] = sigma > tiny && rest > epsilon * epsilon * sigma ? std::sqrt(rest / sigma) : 0;
    }
    leave(&s);
    return ok;
}

/* Gradient (E, T, D) of sum dq q, v held fixed; zero where q is. */
extern "C" int deflate_back(int64_t count, int64_t T, int64_t D, const real *x, const real *v, const real *q, const real *dq, real *dx) {
    Net s = {};
    Matrix c = {T, D, up(D), room(&s, T * up(D)), room(&s, T + D)};
    bool ok = c.centred && c.along;
    for (int64_t e = 0; ok && e < count; e++, x += T * D, dx += T * D, v += D) {
        real sigma, rest;
        centre(c, x);
        split(c, v, &sigma, &rest);
        const real out = q[e] > 0 ? dq[e] / (q[e] * sigma) : 0, in = q[e] > 0 ? dq[e] * q[e] / sigma : 0;
        for (int64_t t = 0; t < T; t++)
            for (int64_t i = 0; i < D; i++) dx[t * D + i] = out * (c.centred[t * c.ld + i] - c.along[t] * v[i]) - in * c.along[t] * v[i];
    }
    leave(&s);
    return ok;
}
