import re
import signal
import threading

import numba
import numpy as np
import pytest
from sklearn.base import clone

import credo
from credo import CredalSPN, CredoWarning, gaps
from credo.errors import ParameterError, SchemaError
from credo.estimators.choice import G_FACTORS, MORE_SMOOTHINGS, SMOOTHINGS
from credo.kernels.jit import interrupted
from credo.learn.grow import Grower
from credo.learn.slices import CodeTable

PLAIN = bool(numba.config.DISABLE_JIT)  # kernels as plain Python, to count lines: learning is slow then, so tables are small


def study(rows=150 if PLAIN else 1500, columns=8, seed=0, n_values=2):
    """Draw the halves of rows independently, each from three profiles with noise."""
    rng = np.random.default_rng(seed)
    profiles = rng.integers(0, n_values, (3, columns))
    half = columns // 2
    table = np.hstack([profiles[rng.integers(0, 3, rows), :half], profiles[rng.integers(0, 3, rows), half:]])
    noise = rng.random(table.shape) < 0.15
    table[noise] = rng.integers(0, n_values, noise.sum())
    return table


COMPLETE = study()
WITH_GAPS = gaps.rows(COMPLETE, 0.1, random_state=0)


class TestLearning:
    @pytest.mark.parametrize("n_values", [2, 3, 5])
    def test_on_complete_data_both_learners_give_the_same_circuit(self, n_values):
        table = study(seed=n_values, n_values=n_values)
        spn, cspn = (
            CredalSPN(learner, cluster_penalty=1.0, g_factor=1.0, smoothing=0.5, random_state=3).fit(table)
            for learner in ("learn_spn", "levray_belle")
        )
        assert spn.circuit_ == cspn.circuit_
        assert spn.circuit_.is_precise
        assert spn.circuit_.depth > 2

    def test_what_is_learned_from_gaps_is_a_credal_tree(self):
        circuit = CredalSPN(cluster_penalty=1.5, random_state=0).fit(WITH_GAPS).circuit_
        assert (circuit.is_complete, circuit.is_decomposable, circuit.is_tree, circuit.is_precise) == (True, True, True, False)
        assert circuit.depth > 2

    @pytest.mark.parametrize("table", [COMPLETE, WITH_GAPS], ids=["complete", "with gaps"])
    def test_neither_workers_nor_progress_change_the_circuit(self, table, capsys):
        settings = {"smoothing": 0.5, "random_state": 1, "cluster_penalty": 0.2}
        expected = CredalSPN(**settings).fit(table).circuit_
        assert CredalSPN(**settings, n_jobs=2).fit(table).circuit_ == expected
        assert CredalSPN(**settings, verbose=True).fit(table).circuit_ == expected
        shown = capsys.readouterr().err
        assert "slices done" in shown
        assert "nodes" in shown

    def test_nothing_is_shown_where_nobody_looks(self, capsys):
        CredalSPN(random_state=0).fit(WITH_GAPS)
        assert capsys.readouterr() == ("", "")

    def test_seeds(self):
        def fitted(random_state):
            return CredalSPN(random_state=random_state, clustering="hard_em", smoothing=1.0, cluster_penalty=0.2).fit(COMPLETE).circuit_

        assert fitted(0) == fitted(0)
        assert fitted(0) != fitted(1)
        assert fitted(np.random.default_rng(5)) == fitted(np.random.default_rng(5))
        assert fitted(np.random.RandomState(5)) == fitted(np.random.RandomState(5))
        assert fitted(None) != fitted(None)

    def test_values_keep_their_labels(self):
        table = np.where(COMPLETE == 1, 7.0, 3.0)
        model = CredalSPN(random_state=0, smoothing=0.0).fit(table)
        assert model.schema_.columns[0].labels == (3, 7)
        assert model.circuit_.probability({"x0": 7}).lower == pytest.approx((COMPLETE[:, 0] == 1).mean())
        with pytest.raises(SchemaError, match=r"row 0, column 0: the value 1 is not one the model has learned: x0: 3 | 7"):
            model.score_samples(COMPLETE[COMPLETE[:, 0] == 1])

    def test_settings_are_kept_as_given(self):
        model = CredalSPN(smoothing="auto", random_state=0)
        before = model.get_params()
        model.fit(WITH_GAPS)
        assert model.get_params() == before
        assert clone(model).get_params() == before

    @pytest.mark.parametrize("table", [np.zeros((1, 1)), [[0, 1, 2]], [[np.nan]], [[1], [0], [None]], np.full((5, 2), np.nan)])
    def test_the_smallest_tables_are_learned(self, table):
        model = CredalSPN(random_state=0).fit(table)
        low, high = model.score_samples_bounds(table).T
        assert (low <= model.score_samples(table)).all()
        assert (model.score_samples(table) <= high).all()

    def test_a_column_never_seen_may_be_anything(self):
        table = np.column_stack([COMPLETE[:, 0], np.full(len(COMPLETE), np.nan)])
        circuit = CredalSPN(random_state=0, smoothing=0.0).fit(table).circuit_
        assert tuple(circuit.probability({"x1": 1})) == (0, 1)

    def test_the_options_of_the_published_rules_matter(self):
        table = gaps.rows(study(rows=300, seed=2), 0.3, random_state=1)
        settings = {"learner": "levray_belle", "cluster_penalty": 0.2, "g_factor": 1.0, "smoothing": 1.0, "random_state": 0}
        default = CredalSPN(**settings).fit(table).circuit_
        for option in ({"counts": "printed"}, {"most_clusters": 1}, {"carry_threshold": True}):
            assert CredalSPN(**settings, **option).fit(table).circuit_ != default, option


class TestSmoothing:
    @pytest.mark.parametrize("learner", ["levray_belle", "cautious"])
    def test_validation_rows_choose_it(self, learner):
        candidates = {"levray_belle": SMOOTHINGS, "cautious": MORE_SMOOTHINGS}[learner]
        settings = {"learner": learner, "g_factor": 10.0, "random_state": 0}
        fitted = CredalSPN(**settings, smoothing="validate").fit(WITH_GAPS, validation=COMPLETE[:100])
        at = {each: CredalSPN(**settings, smoothing=each).fit(WITH_GAPS).score(COMPLETE[:100]) for each in candidates}
        assert fitted.smoothing_ == max(at, key=at.__getitem__)
        assert fitted.score(COMPLETE[:100]) == max(at.values())
        auto = CredalSPN(**settings, smoothing="auto").fit(WITH_GAPS, validation=COMPLETE[:100])
        assert auto.circuit_ == fitted.circuit_

    def test_without_validation_rows_some_are_held_out_and_then_learned_from_too(self):
        auto = CredalSPN(random_state=0).fit(WITH_GAPS)
        assert auto.smoothing_ in MORE_SMOOTHINGS
        assert auto.g_factor_ in G_FACTORS
        chosen = CredalSPN(smoothing=auto.smoothing_, g_factor=auto.g_factor_, random_state=0)
        assert auto.circuit_ == chosen.fit(WITH_GAPS).circuit_

    def test_validate_without_rows_is_refused(self):
        with pytest.raises(ParameterError, match=r"smoothing='validate' needs rows to choose by: fit\(X, validation=X_valid\)"):
            CredalSPN(smoothing="validate").fit(COMPLETE)


class TestScores:
    @pytest.mark.parametrize(("learner", "choice"), [("levray_belle", "vertex_mean"), ("cautious", "centre")])
    def test_they_are_means_over_rows_of_bounds_and_of_a_compatible_network(self, learner, choice):
        model = CredalSPN(learner, random_state=0).fit(WITH_GAPS)
        scores, bounds = model.scores(COMPLETE), model.score_samples_bounds(COMPLETE)
        assert (scores.min_ll, scores.opt_ll) == (bounds[:, 0].mean(), bounds[:, 1].mean())
        assert scores.min_ll < scores.avg_ll < scores.opt_ll
        assert scores.gap == scores.opt_ll - scores.min_ll
        assert scores.avg_ll == model.circuit_.compatible(choice).log_likelihood(COMPLETE).mean()
        other = model.scores(COMPLETE, of="vertex_mean")
        assert other.avg_ll == model.circuit_.compatible("vertex_mean").log_likelihood(COMPLETE).mean()
        assert model.score(COMPLETE) == model.score_samples(COMPLETE).mean()
        assert (bounds[:, 0] <= model.score_samples(COMPLETE)).all()
        assert (model.score_samples(COMPLETE) <= bounds[:, 1]).all()

    def test_without_gaps_there_is_nothing_between(self):
        scores = CredalSPN(random_state=0).fit(COMPLETE).scores(COMPLETE)
        assert scores.gap == 0
        assert scores.avg_ll == pytest.approx(scores.min_ll, abs=1e-12)

    def test_missing_cells_are_summed_over(self):
        model = CredalSPN(random_state=0).fit(WITH_GAPS)
        nothing = np.full((1, COMPLETE.shape[1]), np.nan)
        np.testing.assert_allclose(model.score_samples_bounds(nothing), 0, atol=1e-12)

    def test_a_model_must_be_fitted_first(self):
        with pytest.raises(ValueError, match="not fitted yet"):
            CredalSPN().score_samples(COMPLETE)


class TestLimits:
    @pytest.mark.parametrize("table", [COMPLETE, WITH_GAPS], ids=["complete", "with gaps"])
    @pytest.mark.parametrize("n_jobs", [1, 2])
    @pytest.mark.parametrize(("learner", "g_factor"), [("levray_belle", 10.0), ("cautious", 0.5)])
    def test_a_circuit_gets_no_larger_than_allowed_and_says_so(self, table, n_jobs, learner, g_factor):
        settings = {"learner": learner, "g_factor": g_factor, "smoothing": 1.0, "random_state": 0, "n_jobs": n_jobs}
        whole = CredalSPN(**settings).fit(table)
        limit = whole.n_nodes_ * 3 // 4
        with pytest.warns(CredoWarning, match=rf"max_nodes={limit} was reached: \d+ slices .* became products of leaves"):
            small = CredalSPN(**settings, max_nodes=limit).fit(table)
        assert 9 < small.n_nodes_ <= limit
        with pytest.warns(CredoWarning, match="max_nodes=1 was reached:"):
            assert CredalSPN(**settings, max_nodes=1).fit(table).n_nodes_ == 9  # a product of leaves is the least there is

    @pytest.mark.parametrize(
        "settings", [("learn_spn", "soft_em"), ("levray_belle", "soft_em"), ("cautious", "soft_em"), ("cautious", "hard_em")]
    )
    def test_a_limit_leaves_the_numbers_of_columns_as_they_are(self, settings):
        learner, clustering = settings
        told = {"learner": learner, "clustering": clustering, "g_factor": 0.5, "cluster_penalty": 0.1, "smoothing": 0.0, "random_state": 0}
        for limit in (20, 40, 80):
            with pytest.warns(CredoWarning, match="was reached"):
                model = CredalSPN(**told, max_nodes=limit).fit(COMPLETE)
            assert model.circuit_.is_precise
            for column in range(COMPLETE.shape[1]):
                seen = (COMPLETE[:, column] == 1).mean()
                assert tuple(model.probability({f"x{column}": 1})) == pytest.approx((seen, seen), abs=1e-9)

    @pytest.mark.parametrize("learner", ["learn_spn", "levray_belle", "cautious"])
    @pytest.mark.parametrize("cluster_penalty", [1e6, 1e9, 1e15])
    def test_a_penalty_beyond_all_measure_is_a_large_one(self, learner, cluster_penalty):
        table = COMPLETE if learner == "learn_spn" else WITH_GAPS
        model = CredalSPN(learner, cluster_penalty=cluster_penalty, smoothing=1.0, random_state=0).fit(table)
        assert np.isfinite(model.score(COMPLETE))

    @pytest.mark.parametrize("learner", ["learn_spn", "levray_belle", "cautious"])
    def test_a_g_factor_beyond_all_measure_finds_no_dependence(self, learner):
        table = COMPLETE if learner == "learn_spn" else WITH_GAPS
        told = {"learner": learner, "smoothing": 1.0, "random_state": 0}
        assert CredalSPN(**told, g_factor=1e15).fit(table).n_nodes_ == CredalSPN(**told, g_factor=1e7).fit(table).n_nodes_

    def test_a_g_factor_is_kept_on_tables_too_small_to_hold_rows_out(self):
        assert CredalSPN(g_factor=2.0, random_state=0).fit(np.eye(5)).g_factor_ == 2.0

    def test_no_warning_where_nothing_was_cut_short(self):
        CredalSPN(max_nodes=10**6, random_state=0).fit(WITH_GAPS)  # warnings are errors here


class TestInterrupts:
    def test_one_while_slices_are_worked_off_ends_learning(self):
        seen = []

        def watch(progress):
            seen.append(progress)
            raise KeyboardInterrupt

        table = CodeTable(study(rows=100 if PLAIN else 2000).astype(np.int8), np.full(8, 2))
        for n_jobs in (1, 2):
            with pytest.raises(KeyboardInterrupt):
                Grower(n_jobs=n_jobs, watch=watch).learn(table)
        assert seen[0].cells_left > 0

    @pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="no signals to single threads on this system")
    def test_ctrl_c_at_any_moment_is_a_keyboard_interrupt(self):
        model = CredalSPN("learn_spn", smoothing=1.0, random_state=0, cluster_penalty=0.1, restarts=500)
        rows = 200 if PLAIN else 5000
        clone(model).set_params(restarts=1).fit(study(rows=rows))  # Numba loses a Ctrl-C that comes while it loads or compiles
        main = threading.main_thread().ident
        before = signal.signal(signal.SIGINT, signal.default_int_handler)  # processes in the background ignore it
        try:
            for delay in (0.02, 0.05, 0.1):
                timer = threading.Timer(delay, signal.pthread_kill, (main, signal.SIGINT))
                timer.start()
                with pytest.raises(KeyboardInterrupt):
                    model.fit(study(rows=rows))
                timer.join()
                assert not hasattr(model, "circuit_")
        finally:
            signal.signal(signal.SIGINT, before)

    def test_other_system_errors_stay_what_they_are(self):
        error = SystemError("broken")
        assert interrupted(error) is error


class TestErrors:
    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"learner": "em"}, "learner must be one of 'cautious', 'levray_belle', 'learn_spn', got 'em'"),
            ({"cluster_penalty": -1}, "cluster_penalty must be a number of at least 0, got -1"),
            ({"g_factor": float("nan")}, "g_factor must be a number of at least 0, or 'auto', got nan"),
            ({"min_rows": 0}, "min_rows must be a whole number of at least 1, got 0"),
            ({"restarts": 2.5}, "restarts must be a whole number of at least 1, got 2.5"),
            ({"passes": True}, "passes must be a whole number of at least 1, got True"),
            ({"max_nodes": 0}, "max_nodes must be a whole number of at least 1, or None, got 0"),
            ({"most_clusters": 0}, "most_clusters must be a whole number of at least 1, or None, got 0"),
            ({"counts": "all"}, "counts must be 'sums' or 'printed', got 'all'"),
            ({"carry_threshold": "yes"}, "carry_threshold must be True or False, got 'yes'"),
            ({"n_jobs": 0}, "n_jobs must be None or a whole number other than 0, got 0"),
            ({"smoothing": "none"}, "smoothing must be a number of at least 0, 'auto' or 'validate', got 'none'"),
            ({"random_state": -1}, "random_state must be a whole number of at least 0, a numpy Generator or None, got -1"),
        ],
    )
    def test_a_bad_setting_is_named_with_what_is_allowed(self, settings, message):
        with pytest.raises(ParameterError, match=f"^{re.escape(message)}$"):
            CredalSPN(**settings).fit(COMPLETE)

    def test_learn_spn_names_the_learners_that_take_gaps(self):
        message = r"learner='learn_spn' takes complete tables.*a learner that takes them: 'cautious', 'levray_belle'"
        with pytest.raises(SchemaError, match=message):
            CredalSPN("learn_spn").fit(WITH_GAPS)

    @pytest.mark.parametrize(
        ("table", "message"),
        [
            ([1, 2, 3], r"a table must have rows and columns, got an array of shape \(3,\)"),
            (np.empty((0, 3)), r"a table must have rows and columns, got an array of shape \(0, 3\)"),
            ([["a", "b"]], "a table must hold whole numbers with NaN for missing"),
            ([[0.5, 1]], "row 0, column 0: 0.5 is not a whole number; missing cells are NaN"),
            ([[1, 0], [np.inf, 1]], "row 1, column 0: inf is not a whole number"),
            (np.arange(26).reshape(13, 2), "column 0 has 13 distinct values; at most 12 whole numbers are categories"),
            ([[1, 2], [3]], "rows"),
        ],
    )
    def test_a_bad_table_is_refused_with_the_place(self, table, message):
        with pytest.raises(SchemaError, match=message):
            CredalSPN().fit(table)

    def test_a_table_of_another_width_is_refused(self):
        model = CredalSPN(random_state=0).fit(COMPLETE)
        with pytest.raises(SchemaError, match="the table has 3 columns, but the model has 8"):
            model.score_samples(COMPLETE[:, :3])

    def test_public_names_reach_the_estimator(self):
        assert credo.CredalSPN is CredalSPN
        assert credo.gaps.rows is gaps.rows

    def test_masked_cells_are_missing(self):
        masked = np.ma.array(COMPLETE, mask=np.isnan(WITH_GAPS))
        settings = {"smoothing": 1.0, "random_state": 0}
        assert CredalSPN(**settings).fit(masked).circuit_ == CredalSPN(**settings).fit(WITH_GAPS).circuit_
