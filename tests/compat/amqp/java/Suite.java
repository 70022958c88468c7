import org.junit.runner.Description;
import org.junit.runner.JUnitCore;
import org.junit.runner.notification.Failure;
import org.junit.runner.notification.RunListener;

/** Runs the JUnit classes it is given, one after the other, and says a line for every test: OUTCOME CLASS.METHOD. */
public final class Suite {
    private static final class Teller extends RunListener {
        private String outcome;

        @Override
        public void testStarted(Description test) {
            outcome = "passed";
        }

        @Override
        public void testFailure(Failure failure) {
            outcome = "failed";
            failure.getException().printStackTrace();
            if (failure.getDescription().getMethodName() == null) {
                testFinished(failure.getDescription());
            }
        }

        @Override
        public void testAssumptionFailure(Failure failure) {
            outcome = "skipped";
        }

        @Override
        public void testFinished(Description test) {
            System.out.println(outcome + " " + test.getTestClass().getSimpleName() + "." + test.getMethodName());
            System.out.flush();
        }
    }

    public static void main(String[] names) throws Exception {
        JUnitCore core = new JUnitCore();
        core.addListener(new Teller());
        for (String name : names) {
            System.err.println("== " + name);
            core.run(Class.forName(name));
        }
        System.exit(0);
    }
}
